import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StreamMemory } from '../../../../../src/chat/durable/log/stream-memory.js';
import { MemoryStreamStore } from '../../../../../src/chat/durable/store/memory-stream-store.js';
import { MAX_READERS } from '../../../../../src/chat/durable/store/stream-store.js';
import { claimNew, memoryOf } from '../../../../contract/durable/describe-stream-store.js';
import { isOver } from '../../../../support/latch.js';

let memory: StreamMemory;
let store: MemoryStreamStore;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  memory = memoryOf();
  store = new MemoryStreamStore(memory, 60_000);
});
afterEach(() => {
  store.onApplicationShutdown();
  vi.useRealTimers();
});

describe('a stream in memory', () => {
  it('receives nothing more from its log after the end', async () => {
    const stream = await claimNew(store);
    stream.log.end({ kind: 'done' });
    expect((Reflect.get(stream.log, 'listeners') as Set<unknown>).size).toBe(0);
  });

  it('is dropped at its time, by one timer that ends with the process', async () => {
    const [first, second] = [await claimNew(store), await claimNew(store)];
    first.log.end({ kind: 'done' });
    vi.advanceTimersByTime(30_000);
    second.log.end({ kind: 'done' });
    expect([store.counts, vi.getTimerCount()]).toEqual([{ running: 0, retained: 2 }, 1]);
    vi.advanceTimersByTime(30_000);
    expect([store.counts, vi.getTimerCount()]).toEqual([{ running: 0, retained: 1 }, 1]);
    vi.advanceTimersByTime(30_000);
    expect([store.counts, vi.getTimerCount()]).toEqual([{ running: 0, retained: 0 }, 0]);
    (await claimNew(store)).log.end({ kind: 'done' });
    store.onApplicationShutdown();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('does not keep the process alive after its end', async () => {
    (await claimNew(store)).log.end({ kind: 'done' });
    expect((Reflect.get(store, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
  });

  it('that is evicted for other accounts is deleted, and its generation stops', async () => {
    const stream = await claimNew(store);
    stream.onStop = vi.fn();
    stream.log.append('Hello');
    stream.log.evict();
    expect(stream.onStop).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ code: 'unavailable' }));
    expect(stream.log.ending).toMatchObject({ kind: 'failed', code: 'unavailable' });
    stream.leave();
    expect([store.counts, memory.used]).toEqual([{ running: 0, retained: 0 }, 0]);
  });

  it('that is dropped releases its memory when its last reader has left', async () => {
    const stream = await claimNew(store);
    const leave = await stream.enter();
    stream.log.append('Hello');
    stream.drop();
    const used = memory.used;
    expect([used > 0, store.counts]).toEqual([true, { running: 0, retained: 0 }]);
    stream.leave();
    stream.leave();
    expect(memory.used).toBe(used);
    leave();
    expect(memory.used).toBe(0);
  });

  it('is kept when its last reader leaves', async () => {
    const stream = await claimNew(store);
    const used = memory.used;
    stream.leave();
    expect([memory.used, store.counts.running]).toEqual([used, 1]);
  });

  it('is cancelled when it has stopped', async () => {
    const stream = await claimNew(store);
    stream.onStop = vi.fn();
    const cancelled = stream.cancel();
    expect(await isOver(cancelled)).toBe(false);
    expect(vi.mocked(stream.onStop).mock.calls).toMatchObject([[{ code: 'cancelled' }]]);
    stream.log.end({ kind: 'done' });
    expect(await isOver(cancelled)).toBe(true);
  });

  it('is not stopped after its end', async () => {
    const stream = await claimNew(store);
    stream.onStop = vi.fn();
    stream.log.end({ kind: 'done' });
    expect(await isOver(stream.cancel())).toBe(true);
    expect(stream.onStop).not.toHaveBeenCalled();
  });

  it('refuses one reader too many with a time to retry', async () => {
    const stream = await claimNew(store);
    for (let reader = 1; reader < MAX_READERS; reader++) await stream.enter();
    const message = 'A stream can have 4 readers at the same time.';
    const refused = { code: 'concurrency_limit_exceeded', message, retryAfterSeconds: 1 };
    await expect(stream.enter()).rejects.toMatchObject(refused);
  });
});
