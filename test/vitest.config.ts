import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { configDefaults, defineConfig, type Plugin } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests that replace functions of a package for the modules of `src`. They cannot share the memory of modules with others. */
const REPLACE_MODULES = ['e2e/auth/sign-in-work.test.ts'];

/** The tests that `npm run test:system` runs: they start programs, or take as long as the limits and attacks that they are about. */
const SYSTEM = [
  ...[
    'config',
    'crash',
    'deploy',
    'histories',
    'hostile',
    'package',
    'processes',
    'proxies',
    'replicas',
    'sdks',
    'stores',
  ],
];
const BROWSER = 'browser';
/** The tests with the programs and SDKs of other projects, which have a lock file of their own. */
const CLIENTS = 'clients';
const filesIn = (folder: string): string => `${folder}/**/*.test.ts`;

/** The tests that need PostgreSQL or Redis. `npm test` runs none of them. */
const ONLY_ON_SERVERS = [
  'contract/database/dropped-connections.test.ts',
  'contract/durable/{redis-stream-store,stream-lifetimes}.test.ts',
  'contract/redis/*.test.ts',
  'contract/routing/redis-cooldowns.test.ts',
  'contract/sign-in/redis.test.ts',
  'contract/throttling/redis*.test.ts',
  'e2e/bootstrap/stopped-with-stores.test.ts',
];

/** The functions that give a suite its stores. `npm test` gets SQLite and no Redis from them, and the project `servers` the rest. */
const GET_STORES = /\b(?:testEngines|testRedis|sharedStores)\(/;
/** The suites that run in the project `servers`, most of them also in `together`. */
const ON_SERVERS = ['contract', 'e2e']
  .flatMap((folder) =>
    readdirSync(join(import.meta.dirname, folder), { recursive: true, encoding: 'utf8' }).map((file) =>
      join(folder, file),
    ),
  )
  .filter(
    (file) => file.endsWith('.test.ts') && GET_STORES.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );

/** Folders with files that take long, as they start many services or try many schedules. */
const LONG = /[/\\]test[/\\](?:config|crash|histories|replicas|stores)[/\\]/;
/** This file takes as long as half of all others, so it begins first. */
const LONGEST = /[/\\]without-plugins\.test\.ts$/;
/** The part of a run in which the long files begin. One that begins at the end would run alone. */
const LONG_ONES_BEGIN_WITHIN = 0.8;

/** Begins the long files one after the other, among all others. Several at once would starve each other's services. */
class LongOnesAmongOthers extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const long = sorted.filter(({ moduleId }) => LONG.test(moduleId));
    const longest = sorted.filter(({ moduleId }) => LONGEST.test(moduleId));
    const others = sorted.filter(({ moduleId }) => !LONG.test(moduleId) && !LONGEST.test(moduleId));
    const perLongOne = Math.floor((others.length * LONG_ONES_BEGIN_WITHIN) / long.length);
    return [...longest, ...long.flatMap((each) => [each, ...others.splice(0, perLongOne)]), ...others];
  }
}

const SRC = join(import.meta.dirname, '..', 'src');
const DIST = join(import.meta.dirname, '..', 'dist');
const SOURCE = /\.tsx?$/;

/** The scripts of the pages import the client and the Markdown parser from the paths at which the service serves them. */
const importsOfPages: Plugin = {
  name: 'imports-of-pages',
  enforce: 'pre',
  resolveId(path, importer) {
    if (importer?.includes('/dashboard/static/') !== true) return undefined;
    const client = /\.\.\/(client(?:\/[\w-]+)?)\.js$/.exec(path)?.[1];
    if (client !== undefined) return join(SRC, `${client}.ts`);
    return path.endsWith('../marked.js') ? this.resolve('marked', importer) : undefined;
  },
};

let isWatching = false;

/**
 * The tests import the modules of `src`, and get them as they are built: Node loads and runs them in half the time that it takes for
 * those that Vitest changes. The build is as new as the sources when a run begins (`support/global-setup.ts`). While Vitest watches
 * the sources, the tests get these.
 */
const builtModules: Plugin = {
  name: 'built-modules',
  enforce: 'pre',
  configureVitest({ vitest }) {
    isWatching = vitest.config.watch;
  },
  async resolveId(path, importer) {
    if (isWatching || importer === undefined || importer.includes('/node_modules/')) return undefined;
    const found = await this.resolve(path, importer, { skipSelf: true });
    if (found === null || !SOURCE.test(found.id) || !found.id.startsWith(SRC)) return found;
    return join(DIST, relative(SRC, found.id)).replace(SOURCE, '.js');
  },
};

/**
 * Most code of a test runs a few times only. With a small space for young objects their collection takes a tenth of the time, and so does
 * the compiling of code that then hardly runs. Only Node 20 has the option for the second.
 */
const FLAGS = [
  '--min-semi-space-size=64',
  '--max-semi-space-size=128',
  ...(process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : []),
];

const SHARING_MODULES = {
  server: { deps: { external: [/[/\\]dist[/\\]/] } },
  // To load Nest and TypeORM anew for each file takes a third of the time.
  isolate: false,
};

export default defineConfig({
  plugins: [importsOfPages],
  oxc: {
    jsx: { runtime: 'automatic', importSource: 'preact', development: false },
    decorator: { legacy: true, emitDecoratorMetadata: true },
  },
  // The examples, and the tests of a team, import the package by its name.
  resolve: {
    alias: [
      { find: /^chat-streaming-service$/, replacement: join(SRC, 'index.ts') },
      { find: /^chat-streaming-service\/testing$/, replacement: join(SRC, 'testing.ts') },
    ],
  },
  test: {
    root: import.meta.dirname,
    execArgv: FLAGS,
    globalSetup: ['support/global-setup.ts'],
    setupFiles: ['support/setup.ts'],
    // One more than there are cores, as they also wait for providers, stores and processes. With more, a run takes as long, and
    // what must happen within a second takes longer.
    maxWorkers: 3,
    sequence: { sequencer: LongOnesAmongOthers },
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // By default 1 second, which is too short on a busy machine.
    expect: { poll: { timeout: 30_000 } },
    // What failed once in a hundred runs has to say what it saw.
    chaiConfig: { truncateThreshold: 2_000 },
    projects: [
      {
        extends: true,
        plugins: [builtModules],
        test: {
          ...SHARING_MODULES,
          name: 'together',
          include: ['**/*.test.ts'],
          exclude: [
            ...configDefaults.exclude,
            'mutation/output/**',
            ...[...SYSTEM, BROWSER, CLIENTS].map(filesIn),
            ...REPLACE_MODULES,
            ...ONLY_ON_SERVERS,
          ],
          env: { TEST_STORES: 'in-process' },
        },
      },
      {
        extends: true,
        plugins: [builtModules],
        test: { ...SHARING_MODULES, name: 'alone', include: REPLACE_MODULES, isolate: true },
      },
      {
        extends: true,
        plugins: [builtModules],
        test: { ...SHARING_MODULES, name: 'system', include: SYSTEM.map(filesIn) },
      },
      {
        extends: true,
        plugins: [builtModules],
        test: {
          ...SHARING_MODULES,
          name: 'servers',
          include: [...ON_SERVERS, 'contract/redis/*.test.ts'],
          env: { TEST_STORES: 'servers' },
        },
      },
      {
        extends: true,
        plugins: [builtModules],
        test: { ...SHARING_MODULES, name: 'browser', include: [filesIn(BROWSER)] },
      },
      {
        extends: true,
        plugins: [builtModules],
        test: { ...SHARING_MODULES, name: CLIENTS, include: [filesIn(CLIENTS)], testTimeout: 120_000 },
      },
    ],
  },
});
