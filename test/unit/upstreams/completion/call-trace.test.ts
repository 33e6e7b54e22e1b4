import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { PriceConfig } from '../../../../src/config/config.js';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';

const SAMPLE_LENGTH = 4_096;
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

  it('counts the whole text, and keeps its beginning', () => {
    expect([trace.textLength, trace.sample]).toEqual([0, '']);
    trace.addText('Hel');
    trace.addText('lo');
    expect([trace.textLength, trace.sample]).toEqual([5, 'Hello']);
    trace.addText('x'.repeat(SAMPLE_LENGTH - 6));
    trace.addText('yz');
    trace.addText('w'.repeat(SAMPLE_LENGTH));
    expect(trace.textLength).toBe(2 * SAMPLE_LENGTH + 1);
    expect(trace.sample).toBe(`Hello${'x'.repeat(SAMPLE_LENGTH - 6)}y`);
  });
});
