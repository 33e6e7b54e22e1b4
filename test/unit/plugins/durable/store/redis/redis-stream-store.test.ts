import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RetainedStreams } from '../../../../../../src/plugins/durable/store/redis/redis-stream-store.js';
import type { ClaimedStream } from '../../../../../../src/plugins/durable/store/redis/redis-stream-tools.js';

const RETENTION_MS = 60_000;
const KIB = 1024;

let dropped: string[];
let kept: RetainedStreams;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  dropped = [];
  kept = new RetainedStreams(10 * KIB, RETENTION_MS, ({ generation }) => dropped.push(generation));
});

/** A stream of so many KiB, of which one is not text. */
const add = (accountId: string, generation: string, kibibytes: number): void => {
  kept.add({ accountId, generation } as ClaimedStream, (kibibytes - 1) * KIB);
};

describe('the streams that Redis keeps for an account', () => {
  it('are dropped above the limit of the account, the oldest first', () => {
    add('greedy', 'a', 4);
    add('honest', 'x', 10);
    add('greedy', 'b', 4);
    add('greedy', 'c', 2);
    expect(dropped).toEqual([]);
    add('greedy', 'd', 5);
    expect(dropped).toEqual(['a', 'b']);
  });

  it('are dropped at once where one stream is larger than the limit', () => {
    add('greedy', 'a', 1);
    add('greedy', 'b', 11);
    expect(dropped).toEqual(['a', 'b']);
    add('greedy', 'c', 10);
    expect(dropped).toEqual(['a', 'b']);
  });

  it('count no longer when they have expired', () => {
    add('greedy', 'a', 6);
    add('gone', 'x', 6);
    vi.advanceTimersByTime(RETENTION_MS - 1);
    add('greedy', 'b', 4);
    vi.advanceTimersByTime(1);
    add('greedy', 'c', 6);
    expect(dropped).toEqual([]);
    expect([...(Reflect.get(kept, 'accounts') as Map<string, unknown>).keys()]).toEqual(['greedy']);
    expect((Reflect.get(kept, 'all') as Set<unknown>).size).toBe(2);
  });
});
