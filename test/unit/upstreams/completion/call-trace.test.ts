import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PriceConfig } from '../../../../src/platform/config/config.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';

const PRICE = { inputPerMillion: 1 } as unknown as PriceConfig;

let trace: CallTrace;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  vi.advanceTimersByTime(1_000);
  trace = new CallTrace('request-1');
});

describe('the trace of a completion', () => {
  it('measures the time since its beginning', () => {
    expect(trace.elapsedMs).toBe(0);
    vi.advanceTimersByTime(30);
    expect(trace.elapsedMs).toBe(30);
  });

  it('begins each attempt with nothing but its upstream, its price and its time', () => {
    vi.advanceTimersByTime(30);
    expect(trace.beginAttempt('acme', PRICE)).toStrictEqual({
      upstream: 'acme',
      price: PRICE,
      startedMs: 30,
      firstTextMs: undefined,
      durationMs: undefined,
      accepted: false,
      code: undefined,
    });
  });

  it('has the attempts in order, and none before the first', () => {
    expect([trace.attempts, trace.lastAttempt]).toEqual([[], undefined]);
    const first = trace.beginAttempt('acme');
    expect(trace.lastAttempt).toBe(first);
    const second = trace.beginAttempt('backup');
    expect([trace.attempts, trace.lastAttempt === second]).toEqual([[first, second], true]);
  });

  it('has nothing of an attempt that another one follows', () => {
    trace.beginAttempt('acme');
    trace.usage = { inputTokens: 99 };
    trace.finish = { reason: 'length', raw: 'length' };
    trace.beginAttempt('backup');
    expect([trace.usage, trace.finish]).toEqual([{}, undefined]);
  });

  it('counts the whole answer, in whatever pieces it arrives', () => {
    expect([trace.textLength, trace.passedTokens]).toEqual([0, 0]);
    for (const piece of ['An', 'swer', ' of fi', 've to', 'kens']) trace.addText(piece);
    const whole = new CallTrace('request-2');
    whole.addText('Answer of five tokens');
    expect([trace.textLength, trace.passedTokens]).toEqual([21, whole.passedTokens]);
  });

  it('counts reasoning apart from the length of the answer', () => {
    trace.addReasoning('Let me think about it.');
    expect(trace.textLength).toBe(0);
    expect(trace.passedTokens).toBeGreaterThan(4);
    trace.beginAttempt('backup');
    expect(trace.passedTokens).toBe(0);
  });
});
