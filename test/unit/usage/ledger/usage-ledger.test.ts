import { describe, expect, it } from 'vitest';
import { RecordQueue, usageClient } from '../../../../src/usage/ledger/usage-ledger.js';
import type { Principal } from '../../../../src/auth/principal/principal.js';
import type { TierConfig } from '../../../../src/platform/config/config.js';

describe('the queue of records', () => {
  it('holds 100,000 records', () => {
    const queue = new RecordQueue<number>();
    for (let entry = 0; entry < 100_000; entry++) queue.add(entry);
    expect([queue.length, queue.add(1), queue.length]).toEqual([100_000, false, 100_000]);
  });

  it('passes on fifty at a time, in order, and keeps what is not stored', async () => {
    const queue = new RecordQueue<number>();
    for (let entry = 0; entry < 120; entry++) expect(queue.add(entry)).toBe(true);
    const portions: (readonly number[])[] = [];
    const stored = [50, 20];
    const draining = queue.drain((portion) => {
      portions.push(portion);
      const count = stored.shift();
      return count === undefined ? Promise.reject(new Error('away')) : Promise.resolve(count);
    });
    await expect(draining).rejects.toThrow('away');
    expect(portions.map((portion) => [portion[0], portion.length])).toEqual([
      [0, 50],
      [50, 50],
      [70, 50],
    ]);
    expect(queue.length).toBe(50);
  });
});

describe('the client of a record', () => {
  const tier = { name: 'free' } as TierConfig;
  it('has the key of an API key, and of no other credential', () => {
    const key = { kind: 'api_key', keyId: 'k1', prefix: 'csk_1' } as const;
    expect(usageClient({ accountId: 'ada', tier, credential: key } satisfies Principal)).toEqual({
      accountId: 'ada',
      credential: 'api_key',
      keyId: 'k1',
      keyPrefix: 'csk_1',
    });
    expect(usageClient({ accountId: 'ada', tier, credential: { kind: 'session', sessionId: 's' } })).toEqual({
      accountId: 'ada',
      credential: 'session',
      keyId: undefined,
      keyPrefix: undefined,
    });
  });
});
