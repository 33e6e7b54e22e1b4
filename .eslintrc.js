import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/**
 * Who may import whom, by folder of src. The one table behind the lint rule below: a folder may import itself, `common`,
 * and what stands here. Nothing imports chat, dashboard or health.
 */
const MAY_IMPORT = {
  common: [],
  config: [],
  http: ['config'],
  database: ['config'],
  accounts: ['config', 'database'],
  redis: ['config'],
  auth: ['config', 'http', 'accounts', 'redis'],
  throttling: ['config', 'http', 'accounts', 'auth', 'redis'],
  upstreams: ['config'],
  models: ['config', 'http', 'redis', 'upstreams'],
  usage: ['config', 'http', 'database', 'accounts', 'auth', 'throttling', 'upstreams'],
  chat: ['config', 'http', 'accounts', 'auth', 'throttling', 'upstreams', 'models', 'usage'],
  health: ['config', 'http', 'database', 'auth', 'redis'],
  dashboard: ['config', 'http', 'accounts', 'auth', 'throttling', 'models', 'usage'],
  observability: ['config', 'database', 'http', 'auth', 'redis', 'throttling', 'upstreams', 'usage', 'chat'],
};

const folders = Object.keys(MAY_IMPORT);

const layering = folders.map((folder) => ({
  files: [`src/${folder}/**/*.{ts,tsx}`],
  rules: {
    '@typescript-eslint/no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            // One level up from a module, or two from a folder inside it, is src.
            regex: `^(\\.\\./)+(${folders
              .filter((other) => other !== folder && other !== 'common' && !MAY_IMPORT[folder].includes(other))
              .join('|')})/`,
            message: `src/${folder} may not import this: see MAY_IMPORT in .eslintrc.js.`,
          },
        ],
      },
    ],
  },
}));

const environment = {
  files: ['src/**/*.{ts,tsx}'],
  ignores: ['src/config/**'],
  rules: {
    'no-restricted-properties': [
      'error',
      { object: 'process', property: 'env', message: 'The environment is read in src/config only.' },
    ],
  },
};

/**
 * Regular expressions see what strangers send: none may take more than linear time, neither by backtracking nor by starting
 * again at each place of a long run. For the browser scripts, too. Patterns that are put together at run time are not seen.
 */
const linearPatterns = {
  files: ['src/**/*.{ts,tsx,js,mjs}'],
  extends: [regexp.configs['flat/recommended']],
  rules: {
    'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
    'regexp/no-super-linear-move': ['error', { report: 'potential', ignoreSticky: false, ignorePartial: false }],
    // Some are there to find control characters.
    'no-control-regex': 'off',
  },
};

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'data/**', 'test/browser/output/**', 'test/mutation/output/**'] },
  {
    files: ['src/**/*.{ts,tsx}', 'test/**/*.{ts,tsx}'],
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
  ...layering,
  environment,
  linearPatterns,
);
