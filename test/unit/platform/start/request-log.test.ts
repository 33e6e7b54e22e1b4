import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import { RequestLog, RequestCounts } from '../../../../src/platform/start/request-log.js';
import { type FinishedRequest, RequestWatch } from '../../../../src/platform/start/request-watch.js';
import type { TokenCount } from '../../../../src/usage/record/usage-record.js';
import { over } from '../../../contract/usage/records.js';

const REQUEST: FinishedRequest = {
  requestId: 'r1',
  traceId: undefined,
  clientAddress: '203.0.113.7',
  method: 'POST',
  route: '/api/v1/chat/stream',
  status: 200,
  isComplete: true,
  durationMs: 12.6,
  bytes: 345,
  principal: undefined,
  errorCode: undefined,
  refusedBy: undefined,
  record: undefined,
};

describe('the log line of a request', () => {
  beforeEach(() => {
    vi.spyOn(Logger.prototype, 'log').mockReturnValue();
    vi.spyOn(Logger.prototype, 'debug').mockReturnValue();
  });

  function lineOf(facts: Partial<FinishedRequest>): unknown {
    vi.mocked(Logger.prototype.log).mockClear();
    new RequestLog().finished({ ...REQUEST, ...facts });
    return vi.mocked(Logger.prototype.log).mock.calls[0]?.[0];
  }

  it('has the duration of the request and of the wait for the first text, in whole milliseconds', () => {
    const record = { ...over(), startedAt: 1_000, firstTextAt: 1_250.4 };
    expect(lineOf({ record })).toMatchObject({ durationMs: 13, firstTextMs: 250, bytes: 345 });
    expect(lineOf({ record: { ...record, firstTextAt: undefined } })).toMatchObject({ firstTextMs: undefined });
  });

  it('has the address of the client at the level debug only, by which TRUST_PROXY can be checked', () => {
    expect(lineOf({})).toMatchObject({ clientAddress: undefined });
    new RequestLog(true).finished(REQUEST);
    expect(vi.mocked(Logger.prototype.log)).toHaveBeenLastCalledWith(
      expect.objectContaining({ clientAddress: '203.0.113.7' }),
    );
  });

  it('has the error, a client that left, and a durable stream', () => {
    expect(lineOf({ errorCode: 'upstream_error' })).toMatchObject({
      errorCode: 'upstream_error',
      clientLeft: undefined,
    });
    expect(lineOf({ isComplete: false, durable: 'repeated' })).toMatchObject({ clientLeft: true, durable: 'repeated' });
    expect(lineOf({ status: undefined, route: undefined })).toMatchObject({ msg: 'POST (no route) (no answer)' });
  });

  it.each<[string, TokenCount, TokenCount]>([
    ['reported', { source: 'reported', count: 3 }, { source: 'reported', count: 5 }],
    ['estimated', { source: 'reported', count: 3 }, { source: 'estimated', count: 5 }],
    ['implausible', { source: 'implausible', count: 3, reported: 9e9 }, { source: 'estimated', count: 5 }],
    ['unknown', { source: 'unknown' }, { source: 'implausible', count: 5, reported: 9e9 }],
  ])('names the less certain source of its tokens: %s', (tokensSource, inputTokens, outputTokens) => {
    expect(lineOf({ record: { ...over(), inputTokens, outputTokens } })).toMatchObject({
      tokensSource,
      inputTokens: inputTokens.count,
      outputTokens: outputTokens.count,
    });
  });

  it('is of the level debug for the probes, which come every few seconds', () => {
    for (const route of ['/api/v1/health', '/api/v1/health/ready']) {
      expect(lineOf({ method: 'GET', route })).toBeUndefined();
      new RequestLog(true).finished({ ...REQUEST, method: 'GET', route });
    }
    expect(Logger.prototype.debug).toHaveBeenCalledTimes(2);
    expect(Logger.prototype.log).not.toHaveBeenCalled();
    expect(lineOf({ method: 'GET', route: '/api/v1/healthy' })).toBeDefined();
  });
});

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
