import { describe, expect, it } from 'vitest';
import { RefusalSample } from '../../../../../src/plugins/dashboard/requests/refusal-recorder.js';
import type { RefusedRequest } from '../../../../../src/plugins/dashboard/requests/refused-requests.js';

let requests = 0;

function refused(members: Partial<RefusedRequest> = {}): RefusedRequest {
  const id = String(++requests);
  return {
    id,
    requestId: id,
    refusedAt: 0,
    accountId: 'ada',
    credential: 'api_key',
    keyId: 'laptop',
    keyPrefix: 'csk_12345678',
    method: 'POST',
    route: '/chat/stream',
    model: null,
    status: 429,
    errorCode: 'rate_limit_exceeded',
    reason: 'requestsPerMinute',
    message: null,
    similar: 0,
    ...members,
  };
}

const MINUTE_MS = 60_000;

describe('the sample of refused requests', () => {
  it('keeps the first five of a kind in a minute, and the last one with the number of the others', () => {
    const sample = new RefusalSample();
    const all = Array.from({ length: 12 }, () => refused());
    const kept = all.flatMap((request) => sample.add(request, 0));
    expect(kept).toEqual(all.slice(0, 5));
    expect(sample.hasMore).toBe(true);
    expect(sample.takeEnded(MINUTE_MS - 1)).toEqual([]);
    expect(sample.takeEnded(MINUTE_MS)).toEqual([{ ...all[11], similar: 6 }]);
    expect(sample.hasMore).toBe(false);
    expect(sample.takeEnded(2 * MINUTE_MS)).toEqual([]);
  });

  it('begins a new minute with the next request, after the last requests of the minute before', () => {
    const sample = new RefusalSample();
    const all = Array.from({ length: 6 }, () => refused());
    for (const request of all) sample.add(request, 0);
    const next = refused();
    expect(sample.add(next, MINUTE_MS)).toEqual([{ ...all[5], similar: 0 }, next]);
  });

  it('samples each key, error and reason for itself', () => {
    const sample = new RefusalSample();
    for (let count = 0; count < 9; count++) sample.add(refused(), 0);
    const others = [
      refused({ keyId: 'server' }),
      refused({ accountId: 'bob' }),
      refused({ errorCode: 'quota_exceeded' }),
      refused({ reason: 'tokensPerDay' }),
    ];
    expect(others.flatMap((request) => sample.add(request, 0))).toEqual(others);
  });

  it('leaves out further kinds after 200 in a minute', () => {
    const sample = new RefusalSample();
    const kept = Array.from({ length: 300 }, (_, index) => refused({ accountId: `account-${index}` })).flatMap(
      (request) => sample.add(request, 0),
    );
    expect(kept).toHaveLength(200);
  });
});
