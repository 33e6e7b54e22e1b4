/**
 * The folders of `src` that are mutated, with the tests that judge their mutants: those that need no other process and replace no
 * module. Paths are below `test`.
 */
export const SUITES = {
  upstreams: [
    'contract/builtin/*.test.ts',
    'contract/protocols/*.test.ts',
    'unit/{circuit-breaker,finish-word,json-in-steps,retry-after,silence-timer,upstream-*}.test.ts',
    'e2e/{failover,kept-connections,passed-over,provider-*}.test.ts',
  ],
  throttling: [
    'contract/throttling/*.test.ts',
    'crash/settlement.test.ts',
    'unit/{capacity,lag-gauge}.test.ts',
    'e2e/{races,stopped-with-stores,tier-limits,token-quota,usage-limits}.test.ts',
  ],
  usage: [
    'contract/usage/{daily-sums,odd-data,usage-store}.test.ts',
    'unit/usage/*.test.ts',
    'unit/{ledger-shutdown,opening-journal,record-writer,report-gate}.test.ts',
    'crash/settlement.test.ts',
    'e2e/usage-*.test.ts',
  ],
  chat: [
    'unit/chat/*.test.ts',
    'unit/{chat-request,open-streams}.test.ts',
    'e2e/{client-leaves,error-answers,faults,races,request-validation,stream-wire,provider-failure-*}.test.ts',
  ],
  auth: [
    'contract/sign-in/*.test.ts',
    'unit/auth/*.test.ts',
    'unit/{client-network,password-policy}.test.ts',
    'e2e/{same-origin,session-*,sign-in-limits,sign-in-races}.test.ts',
  ],
};
