import { afterEach, describe, expect, it } from 'vitest';
import { parseStreamId } from '../../../src/chat/durable/identity/stream-identity.js';
import { MemoryStreamStore } from '../../../src/chat/durable/store/memory-stream-store.js';
import type { OwnStream } from '../../../src/chat/durable/store/stream-store.js';
import { ACCOUNT, claimNew, describeStreamStore, memoryOf } from './describe-stream-store.js';

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

  it('loses the stream that ended first when it is full, and refuses when all streams run', async () => {
    const memory = memoryOf(1);
    const full = (store = new MemoryStreamStore(memory, 60_000));
    const [first, second, third] = [await claimNew(full), await claimNew(full), await claimNew(full)];
    for (const stream of [first, second]) {
      stream.log.begin();
      stream.log.append(KIB_400);
    }
    for (const stream of [second, first]) {
      stream.log.end({ kind: 'done' });
      stream.leave();
    }
    expect([await isKept(first), await isKept(second)]).toEqual([true, true]);

    third.log.begin();
    third.log.append(KIB_400);
    expect([await isKept(first), await isKept(second)]).toEqual([true, false]);

    third.log.append(KIB_400);
    expect(await isKept(first)).toBe(false);
    expect(() => {
      third.log.append(KIB_400);
    }).toThrow(expect.objectContaining({ code: 'unavailable' }));
    await expect(full.claim({ accountId: ACCOUNT, locator: '1', proof: Buffer.of() }, 0)).rejects.toMatchObject({
      code: 'unavailable',
    });
    expect(full.counts).toEqual({ running: 1, retained: 0 });

    third.log.end({ kind: 'done' });
    third.leave();
    third.drop();
    expect(memory.used).toBe(0);
  });
});
