import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../src/common/service-error.js';
import type { AttemptAccount } from '../../../src/upstreams/completion/attempt-account.js';
import { Attempt } from '../../../src/upstreams/completion/attempt.js';
import { CallTrace } from '../../../src/upstreams/completion/call-trace.js';
import type { PartCollector } from '../../../src/upstreams/completion/part-collector.js';
import type { PartSource } from '../../../src/upstreams/completion/part-source.js';
import { providerFailure } from '../../../src/upstreams/contract/provider-failure.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';

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

/** A source that brings what the test gives it. It notes what the attempt does to it. */
class FakeSource implements PartSource {
  isAccepted = false;
  isRefused = false;
  readonly calls: string[] = [];
  private closedWith: Error | undefined;
  private readonly steps: (readonly StreamPart[] | Error)[] = [];

  constructor(private readonly collector: PartCollector) {}

  bring(...parts: StreamPart[]): void {
    this.steps.push(parts);
  }

  breaks(error: Error): void {
    this.steps.push(error);
  }

  read(): boolean {
    if (this.closedWith !== undefined) throw this.closedWith;
    const step = this.steps.shift();
    if (step instanceof Error) throw step;
    for (const part of step ?? []) this.collector.add(part);
    return step !== undefined;
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
let account: string[];
let onChange: ReturnType<typeof vi.fn<() => void>>;
let attempt: Attempt;

const note = (what: string) => () => account.push(what);
const accountOf = () =>
  ({
    accept: note('accept'),
    text: note('text'),
    complete: note('complete'),
    stop: note('stop'),
    fail: ({ code }: ServiceError) => account.push(`fail: ${code}`),
  }) as unknown as AttemptAccount;

function open(prepare: (source: FakeSource) => void = () => undefined): void {
  attempt = new Attempt(
    (collector) => {
      source = new FakeSource(collector);
      prepare(source);
      return source;
    },
    { connectMs: 1, firstTokenMs: FIRST_TOKEN_MS, idleMs: IDLE_MS },
    trace,
    accountOf(),
    onChange,
  );
}
/** What the account has heard since the last call, each thing once. */
const heard = () => [...new Set(account.splice(0))];
const late = { code: 'upstream_timeout' };

beforeEach(() => {
  vi.useFakeTimers();
  [trace, account, onChange] = [new CallTrace('r'), [], vi.fn<() => void>()];
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
  vi.useRealTimers();
});

describe('an attempt', () => {
  it('accepts, has its first text once, and is complete: its source is released and its timer is cleared', () => {
    open();
    expect([attempt.isAccepted, attempt.read(), heard()]).toEqual([false, undefined, []]);
    source.isAccepted = true;
    source.bring(HI);
    expect([attempt.read(), attempt.isAccepted, account]).toEqual([HI, true, ['accept', 'text']]);
    source.bring(HI, FINISH, LAST);
    account.length = 0;
    expect([attempt.read(), attempt.isWhole, attempt.isOver]).toEqual([HI, true, false]);
    expect(attempt.read()).toEqual(FINISH);
    expect([attempt.read(), attempt.isOver, attempt.isWhole]).toEqual([undefined, true, true]);
    expect([account.filter((what) => what !== 'accept'), source.calls]).toEqual([['complete'], ['finish']]);
    expect(attempt.read()).toBeUndefined();
  });

  it('is accepted at once where its source is', () => {
    open((made) => (made.isAccepted = true));
    expect([attempt.isAccepted, account]).toEqual([true, ['accept']]);
    attempt.stop(STOPPED);
  });

  it('that cannot open its source fails when it is read', () => {
    attempt = new Attempt(
      () => {
        throw new TypeError('a bug');
      },
      { connectMs: 1, firstTokenMs: 1, idleMs: 1 },
      trace,
      accountOf(),
      onChange,
    );
    expect([attempt.isAccepted, account]).toEqual([false, []]);
    expect(() => attempt.read()).toThrow(expect.objectContaining({ code: 'internal_error' }));
    expect([attempt.isOver, account]).toEqual([true, ['fail: internal_error']]);
  });

  it('that fails gives what came before, closes its source, and tells its account once', () => {
    open();
    source.bring(HI);
    source.breaks(FAILED);
    expect(attempt.read()).toEqual(HI);
    expect(() => attempt.read()).toThrow(FAILED);
    expect([attempt.isOver, source.calls, account]).toEqual([
      true,
      [`close: ${FAILED.message}`],
      ['text', 'fail: upstream_error'],
    ]);
    expect(attempt.read()).toBeUndefined();
    attempt.stop(STOPPED);
    expect(source.calls).toHaveLength(1);
  });

  it('keeps no reasoning that nobody asked for', () => {
    open();
    source.bring({ type: 'reasoning', text: 'hm' }, HI);
    expect([attempt.read(), attempt.read()]).toEqual([HI, undefined]);
    attempt.stop(STOPPED);
  });

  it('whose provider tells of a failure fails with it', () => {
    open();
    source.bring(HI, { type: 'error', error: FAILED });
    expect(attempt.read()).toEqual(HI);
    expect(() => attempt.read()).toThrow(FAILED);
  });

  it('that is stopped closes its source, and says nothing of a failure', () => {
    open();
    attempt.stop(STOPPED);
    attempt.stop(STOPPED);
    expect([attempt.isOver, source.calls, account]).toEqual([true, ['close: Stop.'], ['stop']]);
    expect(attempt.read()).toBeUndefined();
  });

  it('that broke after the answer was complete is complete', () => {
    open();
    source.bring(HI, FINISH, COMPLETE);
    source.breaks(FAILED);
    expect([attempt.read(), attempt.read()]).toEqual([HI, FINISH]);
    expect([attempt.read(), attempt.isOver, account.at(-1)]).toEqual([undefined, true, 'complete']);
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
    expect(account).toEqual(['text', 'fail: content_filtered']);
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
    expect(account).toEqual(['fail: upstream_timeout']);
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

  it('goes on with each sign of life', () => {
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

  it('does not go on with what is no sign of life', () => {
    open();
    vi.advanceTimersByTime(FIRST_TOKEN_MS - 1);
    source.bring({ type: 'usage', usage: { inputTokens: 1 } });
    while (attempt.read() !== undefined);
    vi.advanceTimersByTime(1);
    expectLate();
  });

  it('does not go on with it after a sign of life, either', () => {
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

  it('is two seconds after a complete answer, whatever still comes, and the answer is complete then', () => {
    open();
    source.bring(HI, FINISH, COMPLETE);
    while (attempt.read() !== undefined);
    vi.advanceTimersByTime(AFTER_COMPLETE_MS - 1);
    source.bring({ type: 'progress' });
    expect([attempt.read(), onChange.mock.calls.length]).toEqual([undefined, 0]);
    vi.advanceTimersByTime(1);
    expect(onChange).toHaveBeenCalled();
    expect([attempt.read(), attempt.isOver, account.at(-1)]).toEqual([undefined, true, 'complete']);
  });

  it('is two seconds after a refusal, for its reason', () => {
    open();
    source.isRefused = true;
    source.bring();
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
