import { beforeEach, describe, expect, it, vi } from 'vitest';
import { CLIENT_GONE } from '../../../../src/upstreams/completion/part-stream.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';
import { IteratedStream } from '../../../../src/chat/stream/iterated-stream.js';

const HEL: CompletionPart = { type: 'text', text: 'Hel' };
const LO: CompletionPart = { type: 'text', text: 'lo' };
const STOPPED = new Error('Stop.');

/** What the hooks return: the test decides when each part comes, and sees what is asked for. */
class Hooks implements AsyncIterableIterator<CompletionPart, undefined> {
  asked = 0;
  returned = 0;
  private readonly waiting: ((result: Promise<IteratorResult<CompletionPart, undefined>>) => void)[] = [];

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.asked += 1;
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  return(): Promise<IteratorResult<CompletionPart, undefined>> {
    this.returned += 1;
    return Promise.reject(new Error('a bug in a finally block'));
  }

  async sends(...parts: CompletionPart[]): Promise<void> {
    for (const value of parts) await this.answer(Promise.resolve({ done: false, value }));
  }

  ends(): Promise<void> {
    return this.answer(Promise.resolve({ done: true, value: undefined }));
  }

  fails(reason: unknown): Promise<void> {
    const failed = Promise.resolve().then((): never => {
      throw reason;
    });
    return this.answer(failed);
  }

  private async answer(result: Promise<IteratorResult<CompletionPart, undefined>>): Promise<void> {
    const resolve = this.waiting.shift();
    if (resolve === undefined) throw new Error('Nothing was asked for.');
    resolve(result);
    await settled();
  }
}

/** Longer than any chain of promises that is resolved. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

let hooks: Hooks;
let inner: { isComplete: boolean; accepted: Promise<void>; stop: ReturnType<typeof vi.fn<(reason: Error) => void>> };
let onOver: ReturnType<typeof vi.fn<(failure?: unknown) => void>>;
let onReadable: ReturnType<typeof vi.fn<() => void>>;
let stream: IteratedStream;

beforeEach(() => {
  hooks = new Hooks();
  inner = { isComplete: false, accepted: Promise.resolve(), stop: vi.fn<(reason: Error) => void>() };
  onOver = vi.fn<(failure?: unknown) => void>();
  onReadable = vi.fn<() => void>();
  stream = new IteratedStream('A completion hook', inner, hooks, onOver);
  stream.onReadable = onReadable;
});

const beginning = (): Promise<string> => {
  const pending = settled().then(() => 'pending');
  return Promise.race([
    stream.started.then(
      () => 'begun',
      (failure: unknown) => (failure instanceof Error ? failure.message : 'failed'),
    ),
    pending,
  ]);
};

describe('stopping a completion with hooks', () => {
  it('stops the provider and throws the reason', async () => {
    stream.stop(STOPPED);
    expect(onReadable).toHaveBeenCalledTimes(1);
    expect(await beginning()).toBe('Stop.');
    expect(() => stream.read()).toThrow(STOPPED);
    expect([inner.stop.mock.calls, onOver.mock.calls, hooks.returned]).toEqual([[[STOPPED]], [[STOPPED]], 1]);
  });

  it('happens once, and not after the end', async () => {
    inner.isComplete = true;
    await hooks.ends();
    stream.stop(STOPPED);
    await stream.return();
    expect([inner.stop.mock.calls, onOver.mock.calls]).toEqual([[], [[undefined]]]);
    expect(stream.read()).toBeUndefined();
  });

  it('makes later parts and ends of the hooks count for nothing', async () => {
    await hooks.sends(HEL);
    stream.read();
    stream.read();
    stream.stop(STOPPED);
    await hooks.sends(LO);
    expect(() => stream.read()).toThrow(STOPPED);
    expect([stream.read(), hooks.asked]).toEqual([undefined, 2]);
    expect(onReadable).toHaveBeenCalledTimes(2);
  });

  it.each([
    ['a failure', () => hooks.fails(new Error('later'))],
    ['an end', () => hooks.ends()],
  ])('makes %s of the hooks that comes later count for nothing', async (_, happen) => {
    stream.stop(STOPPED);
    await happen();
    expect([onOver.mock.calls, inner.stop.mock.calls]).toEqual([[[STOPPED]], [[STOPPED]]]);
    expect(() => stream.read()).toThrow(STOPPED);
  });

  it('by a client that leaves stops the provider, and sends nothing to the reader', async () => {
    await hooks.sends(HEL);
    expect(await stream.return()).toEqual({ done: true, value: undefined });
    expect([inner.stop.mock.calls, onOver.mock.calls, hooks.returned]).toEqual([[[CLIENT_GONE]], [[CLIENT_GONE]], 1]);
    expect([stream.read(), stream.isOver]).toEqual([undefined, true]);
  });

  it('works with hooks that have nothing to clean up', () => {
    const plain: AsyncIterable<CompletionPart> = {
      [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
    };
    stream = new IteratedStream('A completion hook', inner, plain, onOver);
    stream.stop(STOPPED);
    expect(onOver).toHaveBeenCalledWith(STOPPED);
  });
});
