/**
 * The folders of `src` that are mutated, with the tests that judge their mutants: those that need no other process and replace no
 * module. Paths are below `test`.
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
    'e2e/throttling/{tier-limits,token-quota,usage-limits}.test.ts',
    'unit/throttling/**/*.test.ts',
    'unit/platform/config/limits/capacity.test.ts',
    'unit/platform/common/event-loop/event-loop.test.ts',
  ],
  usage: [
    'contract/usage/{daily-sums,odd-data,record-retention,usage-store}.test.ts',
    'e2e/usage/usage-requests.test.ts',
    'unit/usage/**/*.test.ts',
    'unit/plugins/reports/*.test.ts',
  ],
  chat: [
    'contract/durable/*.test.ts',
    'e2e/chat/durable-streams.test.ts',
    'e2e/plugins/plugins.test.ts',
    'unit/chat/**/*.test.ts',
  ],
  auth: [
    'contract/sign-in/in-process.test.ts',
    'unit/auth/**/*.test.ts',
    'unit/accounts/passwords/password-policy.test.ts',
    'e2e/auth/same-origin.test.ts',
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
