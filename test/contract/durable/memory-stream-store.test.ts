import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseStreamId } from '../../../src/plugins/durable/stream-identity.js';
import { MemoryStreamStore } from '../../../src/plugins/durable/store/memory-stream-store.js';
import type { OwnStream } from '../../../src/plugins/durable/store/stream-store.js';
import { ACCOUNT, claimNew, describeStreamStore, memoryOf, text } from './describe-stream-store.js';

let store: MemoryStreamStore | undefined;
const close = (): Promise<void> => {
  store?.onApplicationShutdown();
  return Promise.resolve();
};

describeStreamStore('memory', {
  open: (retentionMs) => {
    store = new MemoryStreamStore(memoryOf(), retentionMs);
    return Promise.resolve([store, store]);
  },
  close,
});

describe('the memory for durable streams', () => {
  afterEach(close);

  const KIB_400 = 'x'.repeat(400 * 1024);
  const isKept = async (stream: OwnStream): Promise<boolean> => {
    const address = parseStreamId(stream.id);
    return address !== undefined && (await store?.find(address, ACCOUNT)) !== undefined;
  };

  it('keeps a stream that runs, also when it is forgotten, and then as long as configured', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    try {
      store = new MemoryStreamStore(memoryOf(), 60_000);
      const stream = await claimNew(store);
      await stream.begin(undefined);
      stream.leave();
      await stream.forget();
      vi.advanceTimersByTime(600_000);
      expect(await isKept(stream)).toBe(true);

      await stream.end({ kind: 'done' });
      vi.advanceTimersByTime(59_999);
      expect(await isKept(stream)).toBe(true);
      vi.advanceTimersByTime(1);
      expect(await isKept(stream)).toBe(false);
    } finally {
      vi.useRealTimers();
    }
  });

  it('loses the stream that ended first when it is full, and refuses when all streams run', async () => {
    const memory = memoryOf(1);
    const full = (store = new MemoryStreamStore(memory, 60_000));
    const [first, second, third] = [await claimNew(full), await claimNew(full), await claimNew(full)];
    for (const stream of [first, second]) {
      await stream.begin(undefined);
      stream.log.append(text(KIB_400));
    }
    for (const stream of [second, first]) {
      await stream.end({ kind: 'done' });
      stream.leave();
    }
    expect([await isKept(first), await isKept(second)]).toEqual([true, true]);

    await third.begin(undefined);
    third.log.append(text(KIB_400));
    expect([await isKept(first), await isKept(second)]).toEqual([true, false]);

    third.log.append(text(KIB_400));
    expect(await isKept(first)).toBe(false);
    expect(() => {
      third.log.append(text(KIB_400));
    }).toThrow(expect.objectContaining({ code: 'unavailable' }));
    await expect(full.claim({ accountId: ACCOUNT, locator: '1', proof: Buffer.of() }, 0)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(full.counts).toEqual({ running: 1, retained: 0 });

    await third.end({ kind: 'done' });
    third.leave();
    third.drop();
    expect(memory.used).toBe(0);
  });
});
