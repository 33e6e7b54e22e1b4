import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { UpstreamConfig } from '../../../../src/platform/config/config.js';
import type { AttemptContext } from '../../../../src/upstreams/completion/attempt-context.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { InProcessSource } from '../../../../src/upstreams/completion/in-process-source.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import type { ChatCall } from '../../../../src/upstreams/contract/chat-call.js';
import type { InProcessProtocol } from '../../../../src/upstreams/contract/protocol.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { StreamPart } from '../../../../src/upstreams/contract/stream-part.js';
import { Latch } from '../../../support/latch.js';
import { COMPLETE, text } from '../../../support/in-process-provider.js';

const call = {} as ChatCall;
const upstream = { name: 'acme' } as UpstreamConfig;
const context = { requestId: 'request-1' } as AttemptContext;
const GONE = new Error('The client has left.');
const LIMITED = providerFailure('upstream_unavailable', 'overloaded');
const OPEN_END: StreamPart = { type: 'complete', last: false };
const turn = () => new Promise(setImmediate);

/** An iterator that the test moves on. */
class PlayedIterator {
  readonly calls: string[] = [];
  private answers: { resolve: (result: IteratorResult<StreamPart>) => void; reject: (error: Error) => void }[] = [];

  next(): Promise<IteratorResult<StreamPart>> {
    this.calls.push('next');
    return new Promise((resolve, reject) => this.answers.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<StreamPart>> {
    this.calls.push('return');
    return Promise.reject(new Error('It could not be released.'));
  }

  async yields(value: StreamPart): Promise<void> {
    this.answers.shift()?.resolve({ value });
    await turn();
  }

  async ends(): Promise<void> {
    this.answers.shift()?.resolve({ done: true, value: undefined });
    await turn();
  }

  async throws(error: Error): Promise<void> {
    this.answers.shift()?.reject(error);
    await turn();
  }
}

let collector: PartCollector;
let onChange: ReturnType<typeof vi.fn<() => void>>;

beforeEach(() => {
  collector = new PartCollector(new CallTrace('request-1'));
  onChange = vi.fn<() => void>();
});

function sourceOf(stream: InProcessProtocol['stream']): InProcessSource {
  const protocol: InProcessProtocol = { transport: 'in-process', name: 'scripted', stream };
  return new InProcessSource(protocol, call, upstream, context, collector, () => {
    onChange();
  });
}
function played(): { source: InProcessSource; iterator: PlayedIterator } {
  const iterator = new PlayedIterator();
  return { iterator, source: sourceOf(() => ({ [Symbol.asyncIterator]: () => iterator })) };
}

describe('a source in the process', () => {
  it('begins with the call, is accepted at once, and requests nothing before it is read', () => {
    const iterator = new PlayedIterator();
    const stream = vi.fn<InProcessProtocol['stream']>(() => ({ [Symbol.asyncIterator]: () => iterator }));
    const source = sourceOf(stream);
    expect(stream.mock.calls).toEqual([[call, upstream, context]]);
    expect([source.isAccepted, source.isRefused, iterator.calls]).toEqual([true, false, []]);
  });

  it('requests one part at a time, and the next only when the last one is read', async () => {
    const { source, iterator } = played();
    expect([source.read(), source.read(), iterator.calls]).toEqual([false, false, ['next']]);
    await iterator.yields(text('Hi'));
    expect([onChange.mock.calls.length, collector.take(), iterator.calls]).toEqual([1, undefined, ['next']]);
    expect([source.read(), collector.take(), iterator.calls]).toEqual([true, text('Hi'), ['next']]);
    expect([source.read(), collector.take(), iterator.calls]).toEqual([false, undefined, ['next', 'next']]);
    await iterator.yields(text('there'));
    expect([onChange.mock.calls.length, source.read(), collector.take()]).toEqual([2, true, text('there')]);
  });

  it('can be read on while it reports a part', async () => {
    const { source, iterator } = played();
    onChange.mockImplementation(() => {
      while (source.read());
    });
    source.read();
    await iterator.yields(text('Hi'));
    expect(iterator.calls).toEqual(['next', 'next']);
  });

  it('is over when the protocol ends after a complete answer, and needs no return then', async () => {
    const { source, iterator } = played();
    source.read();
    await iterator.yields(OPEN_END);
    source.read();
    source.read();
    await iterator.ends();
    expect([onChange.mock.calls.length, source.read()]).toEqual([2, true]);
    expect(collector).toMatchObject({ over: true, error: undefined });
    source.finish();
    source.close(GONE);
    expect(iterator.calls).toEqual(['next', 'next']);
  });

  it('fails when the protocol ends before', async () => {
    const { source, iterator } = played();
    source.read();
    await iterator.ends();
    expect(source.read()).toBe(true);
    expect(collector).toMatchObject({
      over: true,
      error: { code: 'upstream_error', cause: { message: 'The answer ended before it was complete.' } },
    });
  });

  it.each([
    ['as it is', LIMITED, LIMITED.code],
    ['as an internal error', new TypeError('a bug'), 'internal_error'],
  ])('reports what the protocol throws %s, once, and needs no return then', async (_, error, code) => {
    const { source, iterator } = played();
    source.read();
    await iterator.throws(error);
    expect(onChange).toHaveBeenCalledTimes(1);
    expect(() => source.read()).toThrow(expect.objectContaining({ code }));
    source.close(GONE);
    await turn();
    expect(iterator.calls).toEqual(['next']);
    expect(() => source.read()).toThrow(expect.objectContaining({ code }));
  });
});

describe('a source in the process that is closed', () => {
  it('returns once, and fails with the first reason', () => {
    const { source, iterator } = played();
    source.read();
    source.close(GONE);
    source.close(new Error('too late'));
    source.finish();
    expect(iterator.calls).toEqual(['next', 'return']);
    expect(() => source.read()).toThrow(GONE);
  });

  it.each(['a part', 'an end', 'an error'])('fails with the reason, although %s arrives later', async (what) => {
    const { source, iterator } = played();
    source.read();
    source.close(GONE);
    if (what === 'a part') await iterator.yields(text('Hi'));
    else if (what === 'an end') await iterator.ends();
    else await iterator.throws(new Error('aborted'));
    expect(() => source.read()).toThrow(GONE);
    expect(collector).toMatchObject({ over: false, error: undefined });
  });

  it('lets a generator run its finally blocks', async () => {
    const released = new Latch();
    const source = sourceOf(async function* () {
      try {
        await Promise.resolve();
        yield text('Hi');
        yield COMPLETE;
      } finally {
        released.open();
      }
    });
    source.read();
    await turn();
    source.read();
    source.close(GONE);
    await released.opened;
  });

  it.each([
    ['has no return', {}],
    [
      'throws in its return',
      {
        return: () => {
          throw new Error('It could not be released.');
        },
      },
    ],
  ])('does not mind an iterator that %s', async (_, rest) => {
    const source = sourceOf(() => ({
      [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined), ...rest }),
    }));
    source.close(GONE);
    await turn();
    expect(() => source.read()).toThrow(GONE);
  });
});

describe('a source in the process that is finished', () => {
  it('returns once', () => {
    const { source, iterator } = played();
    source.finish();
    source.finish();
    source.close(GONE);
    expect(iterator.calls).toEqual(['return']);
  });
});
