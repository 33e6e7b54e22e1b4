import { Logger, type MessageEvent } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Histogram } from '../../../../src/platform/common/counts/counters.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { sendChunks } from '../../../../src/chat/stream/chunk-events.js';
import type { EventSink, ReadableParts } from '../../../../src/chat/stream/part-pump.js';
import { InterChunkLatencies, InterChunkClock } from '../../../../src/chat/stream/inter-chunk-latencies.js';
import type { CompletionPart } from '../../../../src/upstreams/contract/stream-part.js';

const KEEP_ALIVE_MS = 15_000;
const text = (content: string): CompletionPart => ({ type: 'text', text: content });
const chunk = (content: string) => ({ data: { content, done: false } });
const DONE = { data: { content: '', done: true } };

/** An answer whose parts the test adds. */
class FakeParts implements ReadableParts {
  onReadable: () => void = () => undefined;
  isOver = false;
  isWhole = false;
  position?: string;
  reads = 0;
  returned = 0;
  private readonly queued: (CompletionPart | Error)[] = [];

  add(...parts: (CompletionPart | Error)[]): void {
    this.queued.push(...parts);
    this.onReadable();
  }

  end(): void {
    this.isOver = true;
    this.onReadable();
  }

  read(): CompletionPart | undefined {
    this.reads++;
    const part = this.queued.shift();
    if (part instanceof Error) throw part;
    return part;
  }

  return(): Promise<void> {
    this.returned++;
    return Promise.resolve();
  }
}

/** A client that takes everything, until the test says that it is slow. */
class FakeSink implements EventSink<MessageEvent> {
  readonly calls: string[] = [];
  isReady = true;
  onEnd: () => void = () => undefined;
  private listener: ((wasSlow: boolean) => void) | undefined;

  send(event: MessageEvent): void {
    this.calls.push('event');
    events.push(event);
  }

  end(): void {
    this.calls.push('end');
    this.onEnd();
  }

  abort(): void {
    this.calls.push('abort');
  }

  cork(): void {
    this.calls.push('cork');
  }

  whenReady(listener: (wasSlow: boolean) => void): void {
    this.listener = listener;
  }

  ready(wasSlow = true): void {
    this.isReady = true;
    this.listener?.(wasSlow);
  }
}

let parts: FakeParts;
let sink: FakeSink;
let events: MessageEvent[];
let clock: { text: ReturnType<typeof vi.fn>; ready: ReturnType<typeof vi.fn> };

const isComplete = (): boolean => sink.calls.includes('end');

beforeEach(() => {
  vi.useFakeTimers();
  [parts, sink, events] = [new FakeParts(), new FakeSink(), []];
  clock = { text: vi.fn(), ready: vi.fn() };
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Sends the answer until the end of the stream, as Nest does. */
function subscribe(): { unsubscribe: () => void } {
  const stop = sendChunks(parts, sink, 'r1', clock as unknown as InterChunkClock);
  let isStopped = false;
  const stopOnce = (): void => {
    if (!isStopped) stop();
    isStopped = true;
  };
  sink.onEnd = stopOnce;
  if (isComplete()) stopOnce();
  return { unsubscribe: stopOnce };
}

describe('the events of an answer', () => {
  it('are one for each text, at once, and one for the end', () => {
    parts.add(text('Hel'), { type: 'reasoning', text: 'hm' }, text('lo'));
    subscribe();
    expect(events).toStrictEqual([chunk('Hel'), chunk('lo')]);
    expect(isComplete()).toBe(false);
    parts.add(text('!'));
    parts.end();
    expect(events).toEqual([chunk('Hel'), chunk('lo'), chunk('!'), DONE]);
    expect(isComplete()).toBe(true);
  });

  it('leave together with the end when the answer is whole already', () => {
    subscribe();
    parts.add(text('first'));
    parts.isWhole = true;
    parts.add(text('last'));
    parts.end();
    expect(sink.calls).toEqual(['event', 'cork', 'event', 'event', 'end']);
  });

  it('have the position of the text as their id in a durable stream', () => {
    parts.position = 'abcdefgh-7';
    parts.add(text('Hi'));
    parts.end();
    subscribe();
    expect(events).toEqual([{ id: 'abcdefgh-7', ...chunk('Hi') }, DONE]);
  });

  it.each(['\u0085', '\u2028', '\u2029', '\u2028a\u2028'])('have no bare line end of Unicode: %j', (content) => {
    parts.add(text(content));
    parts.end();
    subscribe();
    const data = events[0]?.data as string;
    expect(data).toMatch(/^[\x20-\x7e]*$/);
    expect(JSON.parse(data)).toEqual({ content, done: false });
  });

  it('end with the reason of a failure, after the texts before it', () => {
    parts.add(text('Hi'), new ServiceError('upstream_error', 'It broke.'), text('never'));
    subscribe();
    const error = { code: 'upstream_error', message: 'It broke.' };
    expect(events).toEqual([chunk('Hi'), { type: 'error', data: { content: '', done: false, error } }]);
    expect([isComplete(), sink.calls.at(-1), parts.returned]).toEqual([true, 'end', 1]);
  });

  it('say nothing of the cause of an internal error, which the log has', () => {
    const logged = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const bug = new Error('the secret of the bug');
    parts.add(bug);
    subscribe();
    expect(JSON.stringify(events)).not.toContain('secret');
    expect(events[0]).toMatchObject({ type: 'error', data: { error: { code: 'internal_error' } } });
    expect(logged).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ requestId: 'r1', code: 'internal_error', reason: 'the secret of the bug' }),
      bug.stack,
    );
  });

  it('of an expected failure are no line in the log', () => {
    const logged = vi.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    parts.add(new ServiceError('upstream_timeout', 'Late.'));
    subscribe();
    expect(logged).not.toHaveBeenCalled();
  });
});

describe('a client that is slow', () => {
  beforeEach(() => {
    sink.isReady = false;
    parts.add(text('one'), text('two'));
  });

  it('gets the next text when it can take it, and nothing is read before', () => {
    subscribe();
    expect([events, parts.reads]).toEqual([[chunk('one')], 1]);
    parts.add(text('three'));
    expect(parts.reads).toBe(1);

    sink.ready();

    expect(events).toEqual([chunk('one'), chunk('two'), chunk('three')]);
    expect(clock.ready).toHaveBeenCalledOnce();
    parts.end();
  });

  it('is not slow while Nest still writes', () => {
    subscribe();
    sink.ready(false);
    expect(events).toHaveLength(2);
    expect(clock.ready).not.toHaveBeenCalled();
    parts.end();
  });

  it('gets the end only after the texts', () => {
    parts.isOver = true;
    subscribe();
    expect([events.length, isComplete()]).toEqual([1, false]);
    sink.ready();
    expect([events.at(-1), isComplete()]).toEqual([DONE, true]);
  });

  it('that leaves gets nothing more, and the answer is let go', () => {
    const subscription = subscribe();
    subscription.unsubscribe();
    sink.ready();
    parts.add(text('three'));
    expect([events, parts.reads, parts.returned]).toEqual([[chunk('one')], 1, 1]);
  });
});

describe('a silent answer', () => {
  const COMMENT = { comment: 'keep-alive' };

  it('is a comment every fifteen seconds, before and after texts', () => {
    subscribe();
    vi.advanceTimersByTime(KEEP_ALIVE_MS - 1);
    expect(events).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(events).toEqual([COMMENT]);
    vi.advanceTimersByTime(KEEP_ALIVE_MS - 1);
    parts.add(text('Hi'));
    vi.advanceTimersByTime(KEEP_ALIVE_MS - 1);
    expect(events).toEqual([COMMENT, chunk('Hi')]);
    vi.advanceTimersByTime(1);
    expect(events).toEqual([COMMENT, chunk('Hi'), COMMENT]);
    parts.end();
  });

  it('of which the client has not read all is no comment, so that none pile up', () => {
    subscribe();
    sink.isReady = false;
    vi.advanceTimersByTime(10 * KEEP_ALIVE_MS);
    expect(events).toEqual([]);
    parts.end();
  });

  it('is none after its end', () => {
    subscribe();
    parts.end();
    vi.advanceTimersByTime(10 * KEEP_ALIVE_MS);
    expect(events).toEqual([DONE]);
  });
});

describe('the latencies between texts', () => {
  it('need not be measured', () => {
    sink.isReady = false;
    parts.add(text('a'), text('b'));
    sink.onEnd = sendChunks(parts, sink, 'r1');
    sink.ready();
    parts.end();
    expect(events).toEqual([chunk('a'), chunk('b'), DONE]);
  });

  it('are measured at each text', () => {
    subscribe();
    parts.add(text('a'), { type: 'reasoning', text: 'hm' }, text('b'));
    parts.end();
    expect(clock.text).toHaveBeenCalledTimes(2);
  });

  it('begin at the text before, or when a slow client is ready again', () => {
    const measured: number[] = [];
    const histogram = new Histogram([1]);
    vi.spyOn(histogram, 'add').mockImplementation((ms) => void measured.push(ms));
    const clock = new InterChunkClock(histogram);
    clock.text();
    vi.advanceTimersByTime(7);
    clock.text();
    vi.advanceTimersByTime(1_000);
    clock.ready();
    vi.advanceTimersByTime(3);
    clock.text();
    expect(measured).toEqual([7, 3]);
  });

  it('are counted by model, for the streams that begin after the first request for them', () => {
    const all = new InterChunkLatencies();
    expect(all.clock('acme/fast')).toBeUndefined();
    all.count();
    const clocks = ['acme/fast', 'acme/fast', 'acme/slow'].map((model) => all.clock(model));
    for (const clock of clocks) {
      clock?.text();
      clock?.text();
    }
    expect([...all.byModel].map(([model, { counts }]) => [model, counts.reduce((sum, count) => sum + count)])).toEqual([
      ['acme/fast', 2],
      ['acme/slow', 1],
    ]);
  });
});
