import { Logger } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EventLoop, LagGauge } from '../../../../../src/platform/common/event-loop/event-loop.js';

const MEASURE_EVERY_MS = 20;

describe('the watch of the event loop', () => {
  const timers: NodeJS.Timeout[] = [];
  let loop: EventLoop;
  let lines: string[];
  let now: number;

  beforeEach(() => {
    vi.useFakeTimers();
    timers.length = 0;
    lines = [];
    now = 0;
    vi.spyOn(performance, 'now').mockImplementation(() => now);
    const note = (line: unknown) => void lines.push(String(line));
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(note);
    vi.spyOn(Logger.prototype, 'log').mockImplementation(note);
    const begin = globalThis.setInterval;
    vi.spyOn(globalThis, 'setInterval').mockImplementation(((callback: () => void, ms: number) => {
      timers.push(begin(callback, ms));
      return timers.at(-1);
    }) as typeof setInterval);
    loop = new EventLoop();
    loop.onApplicationBootstrap();
  });
  afterEach(() => {
    loop.onApplicationShutdown();
  });

  /** Lets time pass, with turns of the event loop that are this late. */
  const pass = (ms: number, lateMs: number) => {
    for (let passed = 0; passed < ms; passed += MEASURE_EVERY_MS + lateMs) {
      now += MEASURE_EVERY_MS + lateMs;
      vi.advanceTimersByTime(MEASURE_EVERY_MS);
    }
  };

  it('reports an overload that lasts once, and its end once', () => {
    pass(10_000, 0);
    expect([loop.isOverloaded, lines]).toEqual([false, []]);
    pass(20_000, 400);
    expect(loop.isOverloaded).toBe(true);
    pass(60_000, 0);
    expect(loop.isOverloaded).toBe(false);
    expect(lines).toEqual([
      'The event loop is overloaded: new streams are refused until it recovers.',
      'The event loop has recovered: new streams are accepted again.',
    ]);
  });
});

const EVERY_MS = 20;

describe('the gauge of the event loop', () => {
  /** Timers that each come late by so much, for so long. */
  function late(gauge: LagGauge, lagMs: number, forMs: number): LagGauge {
    for (let passedMs = 0; passedMs < forMs; passedMs += EVERY_MS + lagMs) gauge.add(EVERY_MS + lagMs, lagMs);
    return gauge;
  }

  it('is high after seconds of lag', () => {
    const gauge = late(new LagGauge(), 250, 1_500);
    expect(gauge.isHigh).toBe(false);
    expect(late(gauge, 250, 1_000).isHigh).toBe(true);
  });

  it('is not high after one delay, however long, nor after rare ones', () => {
    const gauge = new LagGauge();
    late(gauge, 10_000, 1);
    expect(gauge.isHigh).toBe(false);
    for (let round = 0; round < 20; round++) {
      late(gauge, 0, 1_000);
      late(gauge, 800, 1);
      expect(gauge.isHigh).toBe(false);
    }
  });

  it('stays low with a lag that is small, for ever', () => {
    expect(late(new LagGauge(), 190, 60_000).isHigh).toBe(false);
  });

  it('is low again only when the lag has been small for a while', () => {
    const gauge = late(new LagGauge(), 300, 5_000);
    expect(late(gauge, 0, 1_500).isHigh).toBe(true);
    expect(late(gauge, 150, 100).isHigh).toBe(true);
    expect(late(gauge, 0, 1_500).isHigh).toBe(true);
    expect(late(gauge, 0, 600).isHigh).toBe(false);
  });
});
