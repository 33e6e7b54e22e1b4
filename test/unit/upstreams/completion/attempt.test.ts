import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  Attempt,
  type AttemptEnd,
  type AttemptObserver,
  type PartSource,
} from '../../../../src/upstreams/completion/attempt.js';
import { CallTrace, type AttemptTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import type { UpstreamTimeouts } from '../../../../src/platform/config/config.js';
import { TEST_UPSTREAM } from '../../../../src/testing/protocols/samples.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { StreamPart } from '../../../../src/upstreams/contract/stream-part.js';

const FIRST_TOKEN_MS = 5_000;
const IDLE_MS = 1_000;
const AFTER_COMPLETE_MS = 2_000;
const FAILED = providerFailure('upstream_error', 'HTTP 500');
const STOPPED = new Error('Stop.');
const HI: StreamPart = { type: 'text', text: 'Hi' };
const FINISH = { type: 'finish', reason: 'stop', raw: 'stop' } as StreamPart;
const FILTERED = { type: 'finish', reason: 'content_filter', raw: 'safety' } as StreamPart;
const COMPLETE: StreamPart = { type: 'complete', last: false };
const LAST: StreamPart = { type: 'complete', last: true };

/** A source whose data the test provides. Records the calls of the attempt. */
class FakeSource implements PartSource {
  readonly calls: string[] = [];
  private closedWith: Error | undefined;
  private readonly steps: (readonly StreamPart[] | Error | 'refuses')[] = [];

  constructor(private readonly collector: PartCollector) {}

  bring(...parts: StreamPart[]): void {
    this.steps.push(parts);
  }

  breaks(error: Error): void {
    this.steps.push(error);
  }

  refuses(): void {
    this.steps.push('refuses');
  }

  read(): boolean {
    if (this.closedWith !== undefined) throw this.closedWith;
    const step = this.steps.shift();
    if (step instanceof Error) throw step;
    if (step === undefined) return false;
    this.collector.state.on(step === 'refuses' ? 'refuse' : 'accept');
    if (step !== 'refuses') for (const part of step) this.collector.add(part);
    return true;
  }

  close(reason: Error): void {
    this.calls.push(`close: ${reason.message}`);
    this.closedWith = reason;
  }

  finish(): void {
    this.calls.push('finish');
  }
}

let source: FakeSource;
let trace: CallTrace;
let facts: AttemptTrace;
/** The events of the attempt, in order. */
let events: string[];
let onChange: ReturnType<typeof vi.fn<() => void>>;
let collector: PartCollector;
let attempt: Attempt;

const nameOf = (end: AttemptEnd) => (end.type === 'failed' ? `failed: ${end.failure.code}` : end.type);
const observer: AttemptObserver = {
  onFirstText: () => events.push(`text after ${facts.firstTextMs} ms`),
  onEnd: (end) => events.push(`${nameOf(end)} after ${facts.durationMs} ms`),
};
/** An observer may ignore the first text. */
const withoutText: AttemptObserver = { onEnd: () => undefined };

const upstreamWith = (timeouts: UpstreamTimeouts) => ({ ...TEST_UPSTREAM, timeouts });

function open(prepare: (source: FakeSource) => void = () => undefined): void {
  collector = new PartCollector(trace);
  attempt = new Attempt(
    () => {
      source = new FakeSource(collector);
      prepare(source);
      return source;
    },
    collector,
    upstreamWith({ connectMs: 1, firstTokenMs: FIRST_TOKEN_MS, idleMs: IDLE_MS }),
    trace,
    facts,
    [withoutText, observer],
    onChange,
  );
}
const late = { code: 'upstream_timeout' };

beforeEach(() => {
  vi.useFakeTimers();
  vi.advanceTimersByTime(30);
  [trace, events, onChange] = [new CallTrace('r'), [], vi.fn<() => void>()];
  vi.advanceTimersByTime(30);
  facts = trace.beginAttempt('acme');
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('an attempt', () => {
  it('is accepted, has its first text once, and is complete: its source is released and its timer is cleared', () => {
    open();
    expect([attempt.isAccepted, attempt.read(), facts.accepted]).toEqual([false, undefined, false]);
    source.bring(HI);
    vi.advanceTimersByTime(12);
    expect([attempt.read(), attempt.isAccepted, facts.accepted]).toEqual([HI, true, true]);
    expect(events).toEqual(['text after 12 ms']);
    source.bring(HI, FINISH, LAST);
    vi.advanceTimersByTime(8);
    expect([attempt.read(), attempt.isWhole, attempt.isOver]).toEqual([HI, true, false]);
    expect(attempt.read()).toEqual(FINISH);
    expect([attempt.read(), attempt.isOver, attempt.isWhole]).toEqual([undefined, true, true]);
    expect([events, source.calls]).toEqual([['text after 12 ms', 'complete after 20 ms'], ['finish']]);
    expect(facts.code).toBeUndefined();
    expect(attempt.read()).toBeUndefined();
  });

  it('is accepted at once when its source is', () => {
    open(() => {
      collector.state.on('accept');
    });
    expect([attempt.isAccepted, facts.accepted]).toEqual([true, true]);
    attempt.stop(STOPPED);
  });

  it('whose events all say that it is complete fails when its source breaks off, and not when its source ends', () => {
    for (const isBroken of [true, false]) {
      open();
      source.bring(HI, FINISH, COMPLETE);
      source.bring(HI, FINISH, isBroken ? COMPLETE : LAST);
      if (isBroken) source.breaks(FAILED);
      const read = () => {
        while (attempt.read() !== undefined);
        return attempt.isOver;
      };
      if (isBroken) expect(read).toThrow(FAILED);
      else expect(read()).toBe(true);
    }
  });

  it('that cannot open its source fails when it is read', () => {
    attempt = new Attempt(
      () => {
        throw new TypeError('a bug');
      },
      new PartCollector(trace),
      upstreamWith({ connectMs: 1, firstTokenMs: 1, idleMs: 1 }),
      trace,
      facts,
      [observer],
      onChange,
    );
    expect([attempt.isAccepted, events]).toEqual([false, []]);
    expect(() => attempt.read()).toThrow(expect.objectContaining({ code: 'internal_error' }));
    expect([attempt.isOver, facts.code, events]).toEqual([
      true,
      'internal_error',
      ['failed: internal_error after 0 ms'],
    ]);
  });

  it('that fails returns what arrived before, closes its source, and ends once', () => {
    open();
    source.bring(HI);
    source.breaks(FAILED);
    expect(attempt.read()).toEqual(HI);
    expect(() => attempt.read()).toThrow(FAILED);
    expect([attempt.isOver, source.calls, facts.code]).toEqual([true, [`close: ${FAILED.message}`], 'upstream_error']);
    expect(events).toEqual(['text after 0 ms', 'failed: upstream_error after 0 ms']);
    expect(attempt.read()).toBeUndefined();
    attempt.stop(STOPPED);
    expect(source.calls).toHaveLength(1);
  });

  it('returns no reasoning unless the caller reads it', () => {
    open();
    source.bring({ type: 'reasoning', text: 'hm' }, HI);
    expect([attempt.read(), attempt.read()]).toEqual([HI, undefined]);
    attempt.stop(STOPPED);
  });

  it('fails with the failure that its provider reports', () => {
    open();
    source.bring(HI, { type: 'error', error: FAILED });
    expect(attempt.read()).toEqual(HI);
    expect(() => attempt.read()).toThrow(FAILED);
  });

  it('that is stopped closes its source, and has no failure', () => {
    open();
    attempt.stop(STOPPED);
    attempt.stop(STOPPED);
    expect([attempt.isOver, source.calls, events]).toEqual([true, ['close: Stop.'], ['stopped after 0 ms']]);
    expect(facts.code).toBeUndefined();
    expect(attempt.read()).toBeUndefined();
  });

  it('whose connection fails after the complete answer is complete', () => {
    open();
    source.bring(HI, FINISH, COMPLETE);
    source.breaks(FAILED);
    expect([attempt.read(), attempt.read()]).toEqual([HI, FINISH]);
    expect([attempt.read(), attempt.isOver, events.at(-1)]).toEqual([undefined, true, 'complete after 0 ms']);
  });
});

describe('an answer that the content filter has cut', () => {
  it('before any text is a rejected request', () => {
    open();
    source.bring(FILTERED, LAST);
    expect(attempt.read()).toEqual(FILTERED);
    expect(attempt.isWhole).toBe(false);
    const cause = expect.objectContaining({ message: 'finish reason: content_filter' }) as Error;
    expect(() => attempt.read()).toThrow(expect.objectContaining({ code: 'upstream_rejected', cause }));
  });

  it('after some text is not complete', () => {
    open();
    source.bring(HI, FILTERED, LAST);
    expect([attempt.read(), attempt.read()]).toEqual([HI, FILTERED]);
    expect(() => attempt.read()).toThrow(expect.objectContaining({ code: 'content_filtered' }));
    expect(events).toEqual(['text after 0 ms', 'failed: content_filtered after 0 ms']);
  });
});

describe('the time of an attempt', () => {
  const expectLate = () => {
    expect(onChange).toHaveBeenCalled();
    expect(() => attempt.read()).toThrow(expect.objectContaining(late));
  };
  const stop = () => {
    attempt.stop(STOPPED);
  };

  it('ends when there is no first token', () => {
    open();
    vi.advanceTimersByTime(FIRST_TOKEN_MS - 1);
    expect(onChange).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expectLate();
    expect(events).toEqual([`failed: upstream_timeout after ${FIRST_TOKEN_MS} ms`]);
  });

  it('ends when there is no next token', () => {
    open();
    source.bring(HI);
    attempt.read();
    attempt.read();
    vi.advanceTimersByTime(IDLE_MS - 1);
    expect(onChange).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expectLate();
  });

  it('starts again with each sign of life', () => {
    open();
    for (const sign of [HI, { type: 'reasoning', text: 'hm' }, { type: 'progress' }] as StreamPart[]) {
      source.bring(sign);
      while (attempt.read() !== undefined);
      vi.advanceTimersByTime(IDLE_MS - 1);
    }
    expect(onChange).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expectLate();
  });

  it('does not start again with data that is no sign of life', () => {
    open();
    vi.advanceTimersByTime(FIRST_TOKEN_MS - 1);
    source.bring({ type: 'usage', usage: { inputTokens: 1 } });
    while (attempt.read() !== undefined);
    vi.advanceTimersByTime(1);
    expectLate();
  });

  it('does not start again with such data after a sign of life', () => {
    open();
    source.bring(HI);
    while (attempt.read() !== undefined);
    vi.advanceTimersByTime(IDLE_MS - 1);
    source.bring({ type: 'usage', usage: { inputTokens: 1 } });
    while (attempt.read() !== undefined);
    vi.advanceTimersByTime(1);
    expectLate();
  });

  it('does not run while the reader does not read', () => {
    open();
    source.bring(HI);
    attempt.read();
    vi.advanceTimersByTime(60_000);
    expect(onChange).not.toHaveBeenCalled();
    expect(attempt.read()).toBeUndefined();
    vi.advanceTimersByTime(2 * IDLE_MS);
    expectLate();
  });

  it('is two seconds after a complete answer, whatever follows, and the answer is then complete', () => {
    open();
    source.bring(HI, FINISH, COMPLETE);
    while (attempt.read() !== undefined);
    vi.advanceTimersByTime(AFTER_COMPLETE_MS - 1);
    source.bring({ type: 'progress' });
    expect([attempt.read(), onChange.mock.calls.length]).toEqual([undefined, 0]);
    vi.advanceTimersByTime(1);
    expect(onChange).toHaveBeenCalled();
    expect([attempt.read(), attempt.isOver, facts.code]).toEqual([undefined, true, undefined]);
  });

  it('is the usual one again if the answer goes on, because each event may say that the answer is complete', () => {
    open();
    for (let event = 0; event < 3; event += 1) {
      source.bring(HI, FINISH, COMPLETE);
      while (attempt.read() !== undefined);
      vi.advanceTimersByTime(IDLE_MS - 1);
    }
    expect(onChange).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expectLate();
  });

  it('is two seconds after a refusal, for its reason', () => {
    open();
    source.refuses();
    attempt.read();
    vi.advanceTimersByTime(AFTER_COMPLETE_MS);
    expectLate();
  });

  it('is over with the attempt', () => {
    open();
    stop();
    vi.advanceTimersByTime(60_000);
    expect(onChange).not.toHaveBeenCalled();
  });
});
