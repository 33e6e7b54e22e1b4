import { describe, expect, it } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { RequestCounts } from '../../../../src/platform/start/request-log.js';
import { RequestWatch, type FinishedRequest } from '../../../../src/platform/start/request-watch.js';

const PRINCIPAL = { accountId: 'account', tier: { name: 'free' } } as unknown as Principal;

function limitsAfter(facts: Partial<FinishedRequest>): readonly (readonly [string, number])[] {
  const metrics = new RequestCounts({ tiers: new Map() }, new RequestWatch());
  metrics.finished({
    requestId: 'request',
    traceId: undefined,
    clientAddress: '203.0.113.7',
    method: 'GET',
    route: '/usage',
    status: 429,
    isComplete: true,
    durationMs: 1,
    bytes: 1,
    principal: PRINCIPAL,
    errorCode: undefined,
    refusedBy: undefined,
    record: undefined,
    ...facts,
  });
  return [...metrics.limits].filter(([, count]) => count > 0);
}

describe('the count of refusals by a limit', () => {
  it('names the limit of the tier that has refused the request', () => {
    expect(limitsAfter({ errorCode: 'concurrency_limit_exceeded', refusedBy: 'concurrentStreams' })).toEqual([
      ['concurrent_streams free', 1],
    ]);
    expect(limitsAfter({ errorCode: 'rate_limit_exceeded', refusedBy: 'requestsPerMinute' })).toEqual([
      ['requests_per_minute free', 1],
    ]);
    expect(limitsAfter({ errorCode: 'quota_exceeded', refusedBy: 'tokensPerDay' })).toEqual([
      ['tokens_per_day free', 1],
    ]);
  });

  it('names the budget that has refused the request', () => {
    expect(limitsAfter({ errorCode: 'rate_limit_exceeded', refusedBy: 'reports' })).toEqual([['reports free', 1]]);
    expect(limitsAfter({ errorCode: 'rate_limit_exceeded', refusedBy: 'replays' })).toEqual([['replays free', 1]]);
    const refused = { errorCode: 'rate_limit_exceeded', refusedBy: 'operator_api', principal: undefined } as const;
    expect(limitsAfter(refused)).toEqual([['operator_api none', 1]]);
  });

  it('leaves out concurrent reports and new API keys, which no limit of a tier refuses', () => {
    expect(limitsAfter({ errorCode: 'concurrency_limit_exceeded' })).toEqual([]);
    expect(limitsAfter({ errorCode: 'rate_limit_exceeded' })).toEqual([]);
  });

  it('has the attempts to sign in, without a tier', () => {
    expect(limitsAfter({ errorCode: 'rate_limit_exceeded', principal: undefined })).toEqual([['sign_in none', 1]]);
  });
});
