import regexp from 'eslint-plugin-regexp';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import tseslint from 'typescript-eslint';

const SRC = join(import.meta.dirname, 'src');

/**
 * Who may import whom, by folder of src. The one table behind the rule below: a folder may import itself, `platform/common`, and
 * what stands here, which has to stand above it, so that nothing goes in circles. Plugins may import `plugin-api` only. A folder that is
 * missing here may not be in src.
 */
const STORES = ['platform/config', 'platform/database', 'platform/outbox', 'platform/redis'];
const PLATFORM = [...STORES, 'platform/http'];
const CORE = ['accounts', 'auth', 'throttling', 'upstreams', 'models', 'usage', 'chat', 'health'];
const MAY_IMPORT = {
  client: [],
  'platform/common': [],
  'platform/config': [],
  'platform/logs': ['platform/config'],
  'platform/http': ['platform/config'],
  'platform/database': ['platform/config'],
  'platform/outbox': ['platform/config', 'platform/database'],
  'platform/redis': ['platform/config'],
  accounts: ['platform/config', 'platform/database', 'platform/outbox'],
  auth: [...PLATFORM, 'accounts'],
  throttling: [...PLATFORM, 'accounts', 'auth'],
  upstreams: ['platform/config', 'platform/redis'],
  models: [...PLATFORM, 'auth', 'upstreams'],
  usage: [...PLATFORM, 'accounts', 'auth', 'throttling', 'upstreams'],
  chat: [...PLATFORM, 'accounts', 'auth', 'throttling', 'upstreams', 'models', 'usage'],
  health: [...PLATFORM, 'auth', 'usage'],
  'platform/start': [...PLATFORM, ...CORE, 'platform/logs'],
  'plugin-api': [...PLATFORM, ...CORE, 'platform/start'],
  'plugins/admin': ['plugin-api'],
  'plugins/compatible': ['plugin-api'],
  // Its scripts run in browsers, with the client.
  'plugins/dashboard': ['plugin-api', 'client'],
  'plugins/durable': ['plugin-api'],
  'plugins/metrics': ['plugin-api'],
  'plugins/reports': ['plugin-api'],
  'plugins/single-sign-on': ['plugin-api'],
  'plugins/tracing': ['plugin-api'],
  'plugins/webhooks': ['plugin-api'],
};

const PLUGINS = Object.keys(MAY_IMPORT).filter((name) => name.startsWith('plugins/'));
/** The same of the files at the top of src, and of the test kit, which puts the folders together as they do. */
const FILES_MAY_IMPORT = {
  'plugins/index.ts': PLUGINS,
  'app.module.ts': [...PLATFORM, ...CORE, 'platform/start', 'plugin-api', 'plugins/index.ts'],
  testing: [...PLATFORM, ...CORE, 'plugin-api', 'platform/start', 'app.module.ts'],
  'index.ts': [...PLATFORM, ...CORE, 'platform/start', 'plugin-api', 'plugins/index.ts', 'app.module.ts'],
  'client.ts': ['client'],
  'testing.ts': ['testing'],
  'main.ts': ['platform/start', 'app.module.ts'],
  'admin.ts': ['plugins/admin'],
  'chat-cli.ts': ['client'],
};

const TABLE = { ...MAY_IMPORT, ...FILES_MAY_IMPORT };

const entries = Object.keys(TABLE);
/** The folders that hold folders of the table. */
const GROUPS = ['platform', 'plugins'];
const folders = readdirSync(SRC).flatMap((name) =>
  GROUPS.includes(name) ? readdirSync(join(SRC, name)).map((inner) => `${name}/${inner}`) : [name],
);
for (const name of folders) {
  if (!entries.includes(name)) throw new Error(`src/${name} is missing from MAY_IMPORT in .eslintrc.js.`);
}
for (const [place, [name, others]] of Object.entries(TABLE).entries()) {
  for (const other of others) {
    if (entries.slice(0, place).includes(other)) continue;
    throw new Error(`MAY_IMPORT in .eslintrc.js: ${other} does not stand above ${name}, which may import it.`);
  }
}

/** The entry that a file, or the path of an import, belongs to. */
const entryOf = (path) => {
  const [top, inner] = relative(SRC, path).split(sep);
  return (GROUPS.includes(top) ? `${top}/${inner}` : top).replace(/\.js$/, '.ts');
};

const onImports = (judge) => ({
  ImportDeclaration: judge,
  ImportExpression: judge,
  ExportNamedDeclaration: judge,
  ExportAllDeclaration: judge,
  TSImportType: judge,
});

const mayImport = {
  create(context) {
    const own = entryOf(context.filename);
    const judge = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const other = entryOf(resolve(dirname(context.filename), source.value));
      const isForAll = other === 'platform/common' && !own.startsWith('plugins/');
      if (other === own || isForAll || TABLE[own].includes(other)) return;
      context.report({ node: source, message: `src/${own} may not import ${other}: see MAY_IMPORT in .eslintrc.js.` });
    };
    return onImports(judge);
  },
};

const CODE = /\.(?:tsx?|m?js)$/;
/** Imports in comments are types for the editor. */
const IMPORTED = /^(?!\s*\/?\*).*\b(?:from|import)\s*\(?\s*'(\.[^']+)'/gm;

/**
 * The folders inside each feature, with the sibling folders that their files import: from the path of a folder to those of the
 * others. Both stand in the same folder, at any depth.
 */
const siblings = new Map();

/** The two folders that lie side by side on the ways to both files, if there are two inside a feature. */
function siblingFolders(importer, imported) {
  const [from, to] = [importer, imported].map((path) => relative(SRC, path).split(sep));
  const shared = from.findIndex((name, depth) => name !== to[depth]);
  if (shared < 1 || shared === from.length - 1 || shared >= to.length - 1) return undefined;
  return [from, to].map((names) => names.slice(0, shared + 1).join('/'));
}

for (const file of readdirSync(SRC, { recursive: true }).filter((name) => CODE.test(name))) {
  const path = join(SRC, file);
  for (const [, imported] of readFileSync(path, 'utf8').matchAll(IMPORTED)) {
    const [folder, other] = siblingFolders(path, resolve(dirname(path), imported)) ?? [];
    if (folder !== undefined) siblings.set(folder, (siblings.get(folder) ?? new Set()).add(other));
  }
}

/** Whether files of `folder` import `goal`, themselves or through other siblings. */
function leadsTo(folder, goal, seen = new Set()) {
  return [...(siblings.get(folder) ?? [])].some(
    (next) => next === goal || (!seen.has(next) && leadsTo(next, goal, seen.add(next))),
  );
}

const noCycles = {
  create(context) {
    const judge = ({ source }) => {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return;
      const [own, other] = siblingFolders(context.filename, resolve(dirname(context.filename), source.value)) ?? [];
      if (own === undefined || !leadsTo(other, own)) return;
      context.report({ node: source, message: `src/${own} and src/${other} import each other.` });
    };
    return onImports(judge);
  },
};

const layering = {
  files: ['src/**/*.{ts,tsx,js}'],
  plugins: { layering: { rules: { 'may-import': mayImport, 'no-cycles': noCycles } } },
  rules: { 'layering/may-import': 'error', 'layering/no-cycles': 'error' },
};

const environment = {
  files: ['src/**/*.{ts,tsx}'],
  ignores: ['src/platform/config/**'],
  rules: {
    'no-restricted-properties': [
      'error',
      { object: 'process', property: 'env', message: 'The environment is read in src/platform/config only.' },
    ],
  },
};

/** Where time is real: the calendar, windows that a store or a client counts too, and measures. */
const IN_REAL_TIME = [
  'src/auth/attempts/in-process-attempt-counters.ts',
  'src/chat/stream/inter-chunk-latencies.ts',
  'src/chat/stream/open-streams.ts',
  'src/platform/common/concurrency/token-buckets.ts',
  'src/platform/common/event-loop/**',
  'src/platform/database/database-clock.ts',
  'src/platform/database/migrations/all-migrations.ts',
  'src/platform/database/queries/query-in-time.ts',
  'src/platform/start/request-watch.ts',
  'src/plugins/dashboard/operator/status/service-status.ts',
  'src/plugins/durable/replay-rate.ts',
  'src/plugins/webhooks/webhook-sender.ts',
  'src/throttling/{joint-admission,redis/exhausted-windows}.ts',
  'src/upstreams/completion/call-trace.ts',
  'src/upstreams/routing/redis-cooldowns.ts',
];
const PACE = 'Use the functions of src/platform/common/timers/pace.ts, so that a test can set their pace.';
const paced = {
  files: ['src/**/*.{ts,tsx}'],
  ignores: [
    'src/platform/common/timers/pace.ts',
    ...IN_REAL_TIME,
    // Other programs and tests use these.
    ...['src/client/**', 'src/plugins/dashboard/static/**', 'src/testing/**'],
  ],
  rules: {
    'no-restricted-globals': [
      'error',
      ...['setTimeout', 'setInterval', 'performance'].map((name) => ({ name, message: PACE })),
    ],
    'no-restricted-imports': [
      'error',
      ...['timers', 'timers/promises'].flatMap((name) =>
        [name, `node:${name}`].map((path) => ({ name: path, allowImportNames: ['setImmediate'], message: PACE })),
      ),
    ],
    'no-restricted-syntax': [
      'error',
      { selector: 'MemberExpression[object.name="AbortSignal"][property.name="timeout"]', message: PACE },
    ],
  },
};

/**
 * Regular expressions see what strangers send: none may take more than linear time, neither by backtracking nor by starting
 * again at each place of a long run. For the browser scripts, too. Patterns that are put together at run time are not seen.
 */
const linearPatterns = {
  files: ['src/**/*.{ts,tsx,js}'],
  extends: [regexp.configs['flat/recommended']],
  rules: {
    'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
    'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false, ignorePartial: false }],
    // Some are there to find control characters.
    'no-control-regex': 'off',
  },
};

export default tseslint.config(
  {
    ignores: [
      ...['dist/**', 'node_modules/**', 'data/**', 'test/browser/output/**', 'test/mutation/output/**'],
      // Needs types that a test generates.
      'test/package/generated-types/**',
    ],
  },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}', 'examples/src/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { project: './tsconfig.json', tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/unbound-method': 'off',
      // DTO classes are shapes for the schema and the validator; what we send is made as plain objects of that shape.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  {
    // Examples are short. Their objects are plain data.
    files: ['examples/src/**/*.ts'],
    rules: { '@typescript-eslint/no-confusing-void-expression': 'off', '@typescript-eslint/no-misused-spread': 'off' },
  },
  layering,
  environment,
  paced,
  linearPatterns,
);
