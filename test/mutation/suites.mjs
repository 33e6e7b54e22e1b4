/**
 * The folders of `src` that are mutated, with the tests that judge their mutants: the units and the contracts, which take
 * a few seconds. Paths are below `test`.
 */
export const SUITES = {
  upstreams: [
    'contract/builtin/*.test.ts',
    'contract/protocols/*.test.ts',
    'contract/routing/*.test.ts',
    'unit/upstreams/**/*.test.ts',
  ],
  throttling: [
    'contract/throttling/{in-process,redis,redis-renewal}.test.ts',
    'unit/throttling/**/*.test.ts',
    'unit/platform/config/limits/capacity.test.ts',
    'unit/platform/common/event-loop/event-loop.test.ts',
  ],
  usage: [
    'contract/usage/{daily-sums,odd-data,record-retention,usage-store}.test.ts',
    'unit/usage/**/*.test.ts',
    'unit/plugins/reports/*.test.ts',
  ],
  chat: ['contract/durable/*.test.ts', 'unit/chat/**/*.test.ts'],
  auth: [
    'contract/sign-in/in-process.test.ts',
    'unit/auth/**/*.test.ts',
    'unit/accounts/passwords/password-policy.test.ts',
  ],
};

/**
 * The tests that judge a folder of `src`, or a folder in it.
 *
 * @param {string} path
 * @returns {string[] | undefined}
 */
export function suiteOf(path) {
  return SUITES[path.split('/', 1)[0]];
}
