import { describe, expect, it } from 'vitest';
import { TokenBuckets } from '../../../../../src/platform/common/concurrency/token-buckets.js';

describe('token buckets', () => {
  let now: number;
  const bucketsWith = (limits: { capacity: number; perSecond: number; maxKeys?: number }) => {
    now = 0;
    return new TokenBuckets({ maxKeys: 2, ...limits }, () => now);
  };
  const taken = (buckets: TokenBuckets, key: string) => {
    let count = 0;
    while (count < 1_000 && buckets.take(key)) count++;
    return count;
  };

  it('allow a burst, however long the key was idle, and then the tokens of the time since', () => {
    const buckets = bucketsWith({ capacity: 200, perSecond: 20 });
    expect(taken(buckets, 'ada')).toBe(200);
    now += 499;
    expect(taken(buckets, 'ada')).toBe(9);
    now += 3_600_000;
    expect(taken(buckets, 'ada')).toBe(200);
    expect(taken(buckets, 'bob')).toBe(200);
  });

  it('take a token back, but hold no more than their capacity', () => {
    const buckets = bucketsWith({ capacity: 2, perSecond: 1 });
    expect(taken(buckets, 'ada')).toBe(2);
    for (let n = 0; n < 3; n++) buckets.refund('ada');
    expect(taken(buckets, 'ada')).toBe(2);
  });

  it('evict the least recently used key', () => {
    const buckets = bucketsWith({ capacity: 1, perSecond: 0 });
    for (const key of ['a', 'b', 'c']) expect(taken(buckets, key)).toBe(1);
    expect([taken(buckets, 'b'), taken(buckets, 'c'), taken(buckets, 'a')]).toEqual([0, 0, 1]);
  });
});
