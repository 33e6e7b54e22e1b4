/**
 * The folders of `src` that are mutated, with the tests that judge their mutants: those that need no other process and replace no
 * module. Paths are below `test`.
 */
export const SUITES = {
  upstreams: [
    'contract/builtin/*.test.ts',
    'contract/protocols/*.test.ts',
    'contract/routing/*.test.ts',
    'unit/upstreams/*.test.ts',
  ],
  throttling: [
    'contract/throttling/{in-process,redis,redis-renewal}.test.ts',
    'e2e/{tier-limits,token-quota,usage-limits}.test.ts',
    'unit/throttling/*.test.ts',
    'unit/{capacity,lag-gauge}.test.ts',
  ],
  usage: [
    'contract/usage/{account-sums,daily-sums,odd-data,record-retention,usage-store}.test.ts',
    'e2e/usage-requests.test.ts',
    'unit/usage/*.test.ts',
    'unit/{ledger-shutdown,opening-journal,record-writer,report-gate,usage-figures,usage-totals}.test.ts',
  ],
  chat: [
    'contract/durable/*.test.ts',
    'e2e/{durable-streams,plugins}.test.ts',
    'unit/chat/*.test.ts',
    'unit/chat-request.test.ts',
  ],
  auth: [
    'contract/sign-in/in-process.test.ts',
    'unit/auth/*.test.ts',
    'unit/{client-network,password-policy}.test.ts',
    'e2e/same-origin.test.ts',
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
