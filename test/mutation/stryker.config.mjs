const path = process.env.MUTATED_PATH;
const report = `test/mutation/output/${path.replaceAll('/', '-')}`;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  plugins: ['@stryker-mutator/vitest-runner', './test/mutation/messages.mjs'],
  ignorers: ['messages'],
  mutate: [`src/${path}/**/*.ts`, '!src/**/*.{module,entity,dto,decorator}.ts'],
  coverageAnalysis: 'perTest',
  // What runs while a module is loaded runs once for all tests: its mutants would need the whole suite each.
  ignoreStatic: true,
  ignorePatterns: ['.ci', 'deploy', 'docs', 'test/bench', 'test/mutation/output', 'test/browser/output'],
  // Mutants of code that did not change, judged by tests that did not change, keep their result.
  incremental: true,
  incrementalFile: `${report}.incremental.json`,
  concurrency: 2,
  timeoutMS: 15_000,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: true },
  jsonReporter: { fileName: `${report}.json` },
  thresholds: { high: 95, low: 85, break: 85 },
  tempDirName: 'test/mutation/output/sandbox',
};
