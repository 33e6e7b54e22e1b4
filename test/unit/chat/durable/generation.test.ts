import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CLAIM_RELEASED, StreamLog } from '../../../../src/chat/durable/log/stream-log.js';
import { Generation } from '../../../../src/chat/durable/generation.js';
import type { OwnStream } from '../../../../src/chat/durable/store/stream-store.js';
import { ServiceError } from '../../../../src/common/service-error.js';
import { CLIENT_GONE } from '../../../../src/upstreams/completion/part-reader.js';
import type { PartReader } from '../../../../src/upstreams/completion/part-reader.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';
import { memoryOf, textOf } from '../../../contract/durable/describe-stream-store.js';

const DETACHED_MS = 4_000;
const CANCELLED = new ServiceError('cancelled', 'The stream was cancelled.');

/** An answer: the test decides what can be read, and when it is over. */
class Parts {
  onReadable: () => void = () => undefined;
  isOver = false;
  readonly stopped: Error[] = [];
  readonly waiting: (CompletionPart | Error)[] = [];

  arrives(...parts: (CompletionPart | string | Error)[]): void {
    this.waiting.push(
      ...parts.map((part) => (typeof part === 'string' ? { type: 'text' as const, text: part } : part)),
    );
    this.onReadable();
  }

  read(): CompletionPart | undefined {
    const part = this.waiting.shift();
    if (part instanceof Error) throw part;
    return part;
  }

  stop(reason: Error): void {
    this.stopped.push(reason);
  }
}

let parts: Parts;
let stream: OwnStream & { abandoned: Error[]; dropped: number };
let readers: number | Promise<number>;
let generation: Generation;
let asked: AbortSignal | undefined;

beforeEach(() => {
  vi.useFakeTimers();
  parts = new Parts();
  readers = 1;
  const log = new StreamLog(memoryOf());
  const own = {
    id: 'stream',
    log,
    abandoned: [] as Error[],
    dropped: 0,
    onStop: () => undefined,
    readers: vi.fn(() => readers),
    abandon: (reason: Error) => own.abandoned.push(reason),
    drop: () => (own.dropped += 1),
  };
  stream = own as unknown as typeof stream;
  generation = new Generation(stream, DETACHED_MS, 'request-1');
});
afterEach(() => {
  expect(vi.getTimerCount(), 'timers after the end').toBe(0);
  vi.useRealTimers();
});

const begin = (): Promise<void> =>
  generation.begin((signal) => {
    asked = signal;
    return Promise.resolve(parts as unknown as PartReader);
  });
const end = (): void => {
  parts.isOver = true;
  parts.onReadable();
};

describe('the generation of a durable stream', () => {
  it('keeps the text that is there when it begins, and that which comes', async () => {
    parts.waiting.push({ type: 'text', text: 'Hel' }, { type: 'usage', usage: { inputTokens: 3 } });
    await begin();
    expect([stream.log.hasBegun, textOf(stream.log), stream.log.ending]).toEqual([true, 'Hel', undefined]);
    parts.arrives('lo', { type: 'reasoning', text: 'hm' }, '!');
    expect([textOf(stream.log), stream.log.ending]).toEqual(['Hello!', undefined]);
    end();
    expect([stream.log.ending, stream.dropped, parts.stopped]).toEqual([{ kind: 'done' }, 0, []]);
  });

  it('does not keep the process alive while it counts readers', async () => {
    await begin();
    expect((Reflect.get(generation, 'timer') as NodeJS.Timeout).hasRef()).toBe(false);
    end();
  });

  it('is over at once where the whole answer is there', async () => {
    parts.waiting.push({ type: 'text', text: 'Hello' });
    parts.isOver = true;
    await begin();
    expect([textOf(stream.log), stream.log.ending]).toEqual(['Hello', { kind: 'done' }]);
  });

  it('ends with the failure of the answer, stops the provider, and receives nothing more from it', async () => {
    await begin();
    parts.arrives('Hel', new ServiceError('upstream_error', 'It failed.'));
    expect(stream.log.ending).toEqual({ kind: 'failed', code: 'upstream_error', message: 'It failed.' });
    expect(parts.stopped).toMatchObject([{ code: 'upstream_error' }]);
    parts.arrives('lo');
    expect([textOf(stream.log), parts.waiting.length, stream.dropped]).toEqual(['Hel', 1, 0]);
  });

  it('says of a fault of the service that it is one, and no more', async () => {
    const logged = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    await begin();
    const bug = new TypeError('x of undefined');
    parts.arrives(bug);
    const { ending } = stream.log;
    expect(ending).toMatchObject({ kind: 'failed', code: 'internal_error' });
    expect(JSON.stringify(ending)).not.toContain('x of undefined');
    const facts = { requestId: 'request-1', code: 'internal_error', reason: 'x of undefined' };
    expect(logged.mock.calls).toMatchObject([[facts, bug.stack]]);
    parts = new Parts();
    await begin();
    parts.arrives(new ServiceError('upstream_error', 'It failed.'));
    expect(logged).toHaveBeenCalledTimes(1);
    logged.mockRestore();
  });

  it('logs a fault of the service also where it has no cause', async () => {
    const logged = vi.spyOn(Logger.prototype, 'error').mockReturnValue();
    await begin();
    parts.arrives(new ServiceError('internal_error', 'It failed.'));
    const facts = { msg: 'It failed.', requestId: 'request-1', code: 'internal_error', reason: undefined };
    expect(logged.mock.calls).toEqual([[facts, undefined]]);
    logged.mockRestore();
  });

  it('ends when the memory for its text is full', async () => {
    stream = Object.assign(stream, { log: new StreamLog(memoryOf(1)) });
    generation = new Generation(stream, DETACHED_MS, 'request-1');
    await begin();
    parts.arrives('x'.repeat(2 * 1024 * 1024));
    expect(stream.log.ending).toMatchObject({ code: 'unavailable' });
    expect(parts.stopped).toHaveLength(1);
  });

  it('keeps nothing for a credential that was ended', async () => {
    await begin();
    parts.arrives('Hel', new ServiceError('key_revoked', 'Revoked.'));
    expect(stream.dropped).toBe(1);
  });

  it('is stopped by its readers', async () => {
    await begin();
    stream.onStop(CANCELLED);
    expect([parts.stopped, asked?.aborted]).toEqual([[CANCELLED], false]);
    parts.arrives(CANCELLED);
    expect(stream.log.ending).toEqual({ kind: 'failed', code: 'cancelled', message: 'The stream was cancelled.' });
  });
});

describe('a generation that does not begin', () => {
  const failing = (error: Error): Promise<void> => generation.begin(() => Promise.reject(error));

  it.each(['upstream_rejected', 'rate_limit_exceeded', 'unavailable'] as const)(
    'reports %s to all waiting requests',
    async (code) => {
      const failure = new ServiceError(code, 'No.');
      await expect(failing(failure)).rejects.toBe(failure);
      expect(stream.abandoned).toEqual([failure]);
      expect([stream.log.hasBegun, stream.log.ending]).toEqual([false, undefined]);
    },
  );

  it.each([
    new ServiceError('unauthenticated', 'Revoked.'),
    new ServiceError('shutting_down', 'Stop.'),
    new TypeError('a bug'),
  ])('frees the key for the others where the failure is its own: %s', async (failure) => {
    await expect(failing(failure)).rejects.toBe(failure);
    expect(stream.abandoned).toEqual([CLAIM_RELEASED]);
  });

  it('fails with the reason for which its store has stopped it', async () => {
    const reason = new ServiceError('unavailable', 'The memory is full.');
    const begun = generation.begin(
      (signal) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reject(CLIENT_GONE);
          });
        }),
    );
    stream.onStop(reason);
    await expect(begun).rejects.toBe(reason);
    expect(stream.abandoned).toEqual([reason]);
  });

  it('counts no readers any longer, also when a count is on its way', async () => {
    let counted!: (count: number) => void;
    readers = new Promise((resolve) => (counted = resolve));
    let fail!: (error: Error) => void;
    const begun = generation.begin(() => new Promise((_, reject) => (fail = reject)));
    await vi.advanceTimersByTimeAsync(DETACHED_MS / 8);
    expect(stream.readers).toHaveBeenCalledTimes(1);
    fail(CANCELLED);
    await expect(begun).rejects.toBe(CANCELLED);
    counted(1);
    await vi.advanceTimersByTimeAsync(DETACHED_MS);
    expect(stream.readers).toHaveBeenCalledTimes(1);
  });
});

describe('a generation without readers', () => {
  it('counts them eight times in its limit, and goes on while there is one', async () => {
    await begin();
    await vi.advanceTimersByTimeAsync(3 * DETACHED_MS);
    expect(stream.readers).toHaveBeenCalledTimes(24);
    expect([parts.stopped, asked?.aborted]).toEqual([[], false]);
    end();
  });

  it('waits for a slow count', async () => {
    readers = Promise.resolve(1);
    await begin();
    await vi.advanceTimersByTimeAsync(3 * DETACHED_MS);
    expect([parts.stopped, asked?.aborted]).toEqual([[], false]);
    end();
  });

  it('counts them every second at least', async () => {
    generation = new Generation(stream, 60_000, 'request-1');
    await begin();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(stream.readers).toHaveBeenCalledTimes(10);
    end();
  });

  it('is stopped when there was none for the whole limit, and says so', async () => {
    await begin();
    await vi.advanceTimersByTimeAsync(DETACHED_MS);
    readers = 0;
    await vi.advanceTimersByTimeAsync(DETACHED_MS - 1);
    expect([parts.stopped, asked?.aborted]).toEqual([[], false]);
    await vi.advanceTimersByTimeAsync(1);
    expect([parts.stopped, asked?.aborted]).toEqual([[CLIENT_GONE], true]);
    parts.arrives(CLIENT_GONE);
    const message = 'The generation was stopped, because no client was reading.';
    expect(stream.log.ending).toEqual({ kind: 'failed', code: 'cancelled', message });
  });

  it('starts its whole time limit again with a new reader', async () => {
    await begin();
    readers = 0;
    await vi.advanceTimersByTimeAsync(DETACHED_MS / 2);
    readers = 1;
    await vi.advanceTimersByTimeAsync(DETACHED_MS / 8);
    readers = 0;
    await vi.advanceTimersByTimeAsync(DETACHED_MS - 1);
    expect(parts.stopped).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(parts.stopped).toEqual([CLIENT_GONE]);
  });

  it('stops a completion that has not begun with the reason that it has no readers', async () => {
    let refuse!: (error: Error) => void;
    const begun = generation.begin((signal) => {
      asked = signal;
      return new Promise((_, reject) => (refuse = reject));
    });
    readers = 0;
    await vi.advanceTimersByTimeAsync(DETACHED_MS);
    expect(asked?.aborted).toBe(true);
    refuse(CLIENT_GONE);
    await expect(begun).rejects.toBe(CLIENT_GONE);
  });

  it('stops a completion that has not begun with the reason that its stream was stopped', async () => {
    stream.onStop(CANCELLED);
    const begun = generation.begin((signal) => {
      signal.throwIfAborted();
      return Promise.reject(new TypeError('It began.'));
    });
    await expect(begun).rejects.toBe(CANCELLED);
  });

  it('is not counted after its end, also when a count is on its way', async () => {
    let counted!: (count: number) => void;
    await begin();
    readers = new Promise((resolve) => (counted = resolve));
    await vi.advanceTimersByTimeAsync(DETACHED_MS / 8);
    end();
    counted(0);
    await vi.advanceTimersByTimeAsync(2 * DETACHED_MS);
    expect([parts.stopped, asked?.aborted]).toEqual([[], false]);
    expect(stream.readers).toHaveBeenCalledTimes(1);
  });
});
