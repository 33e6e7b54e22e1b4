const path = process.env.MUTATED_PATH;
const report = `test/mutation/output/${path.replaceAll('/', '-')}`;

/** @type {import('@stryker-mutator/api/core').PartialStrykerOptions} */
export default {
  testRunner: 'warm',
  plugins: ['./test/mutation/runner.mjs', './test/mutation/messages.mjs', './test/mutation/left-out.mjs'],
  ignorers: ['messages'],
  mutate: [`src/${path}/**/*.ts`, '!src/**/*.{module,entity,dto,decorator}.ts'],
  coverageAnalysis: 'perTest',
  // What runs while a module is loaded runs once for all tests: its mutants would need the whole suite each.
  ignoreStatic: true,
  ignorePatterns: ['.ci', 'deploy', 'docs', 'test/bench', 'test/mutation/output', 'test/browser/output'],
  // Mutants of code that did not change, judged by tests that did not change, keep their result.
  incremental: true,
  incrementalFile: `${report}.incremental.json`,
  concurrency: 3,
  timeoutMS: 15_000,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false, skipFull: true },
  jsonReporter: { fileName: `${report}.json` },
  thresholds: { high: 95, low: 85, break: 85 },
  tempDirName: 'test/mutation/output/sandbox',
};
