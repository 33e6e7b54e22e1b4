import { describe, expect, it, vi } from 'vitest';
import { nextPart, type PartReader } from '../../../../src/upstreams/completion/part-stream.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';

const HI: CompletionPart = { type: 'text', text: 'Hi' };

function readerOf(...steps: (CompletionPart | undefined)[]) {
  const read = vi.fn<PartReader['read']>(() => steps.shift());
  return { read, isOver: false, onReadable: () => undefined } as Partial<PartReader> as PartReader & {
    read: typeof read;
    isOver: boolean;
  };
}

describe('the next part of a reader', () => {
  it('is the one that is there', async () => {
    expect(await nextPart(readerOf(HI))).toEqual({ done: false, value: HI });
  });

  it('is waited for, and nothing after it is read', async () => {
    const reader = readerOf(undefined, undefined, HI, HI);
    const next = nextPart(reader);
    for (let count = 1; count <= 4; count++) reader.onReadable();
    expect(await next).toEqual({ done: false, value: HI });
    expect(reader.read).toHaveBeenCalledTimes(3);
  });

  it('is the end', async () => {
    const reader = readerOf();
    const next = nextPart(reader);
    reader.isOver = true;
    reader.onReadable();
    reader.onReadable();
    expect(await next).toEqual({ done: true, value: undefined });
    expect(reader.read).toHaveBeenCalledTimes(2);
  });

  it('is a failure, which is reported once', async () => {
    const failure = new Error('HTTP 500');
    const reader = readerOf();
    const next = nextPart(reader);
    reader.read.mockImplementationOnce(() => {
      throw failure;
    });
    reader.onReadable();
    reader.onReadable();
    await expect(next).rejects.toBe(failure);
    expect(reader.read).toHaveBeenCalledTimes(2);
  });
});
