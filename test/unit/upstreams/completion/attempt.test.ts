import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Attempt, type PartSource } from '../../../../src/upstreams/completion/attempt.js';
import { CallTrace, type AttemptTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import { TEST_UPSTREAM } from '../../../../src/testing/protocols/samples.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { StreamPart } from '../../../../src/upstreams/contract/stream-part.js';

const FIRST_TOKEN_MS = 5_000;
const IDLE_MS = 1_000;
const AFTER_COMPLETE_MS = 2_000;
const FAILED = providerFailure('upstream_error', 'HTTP 500');
const HI: StreamPart = { type: 'text', text: 'Hi' };
const FINISH = { type: 'finish', reason: 'stop', raw: 'stop' } as StreamPart;
const COMPLETE: StreamPart = { type: 'complete', last: false };
const LAST: StreamPart = { type: 'complete', last: true };

/** A source whose data the test provides. */
class FakeSource implements PartSource {
  readonly finish = (): void => undefined;
  private closedWith: Error | undefined;
  private readonly steps: (readonly StreamPart[] | Error | 'refuses')[] = [];

  constructor(private readonly collector: PartCollector) {}

  bring(...parts: StreamPart[]): void {
    this.steps.push(parts);
  }

  fails(reason: Error | 'refuses'): void {
    this.steps.push(reason);
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
    this.closedWith = reason;
  }
}

let source: FakeSource;
let facts: AttemptTrace;
let onChange: ReturnType<typeof vi.fn<() => void>>;
let attempt: Attempt;

function open(): void {
  const trace = new CallTrace('r');
  facts = trace.beginAttempt('acme');
  const collector = new PartCollector(trace);
  source = new FakeSource(collector);
  const timeouts = { connectMs: 1, firstTokenMs: FIRST_TOKEN_MS, idleMs: IDLE_MS };
  attempt = new Attempt(() => source, collector, { ...TEST_UPSTREAM, timeouts }, trace, facts, [], onChange);
}

beforeEach(() => {
  vi.useFakeTimers();
  onChange = vi.fn<() => void>();
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
});

describe('an attempt', () => {
  it('whose events all say that it is complete fails when its source breaks off, and not when its source ends', () => {
    for (const isBroken of [true, false]) {
      open();
      source.bring(HI, FINISH, COMPLETE);
      source.bring(HI, FINISH, isBroken ? COMPLETE : LAST);
      if (isBroken) source.fails(FAILED);
      const read = () => {
        while (attempt.read() !== undefined);
        return attempt.isOver;
      };
      if (isBroken) expect(read).toThrow(FAILED);
      else expect(read()).toBe(true);
    }
  });
});

describe('the time of an attempt', () => {
  const expectLate = () => {
    expect(onChange).toHaveBeenCalled();
    expect(() => attempt.read()).toThrow(expect.objectContaining({ code: 'upstream_timeout' }));
  };

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
    source.fails('refuses');
    attempt.read();
    vi.advanceTimersByTime(AFTER_COMPLETE_MS);
    expectLate();
  });
});
