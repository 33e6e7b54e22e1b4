import { beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../src/upstreams/routing/circuit-breaker.js';

const FAILURES_TO_OPEN = 5;
const LONG_MS = 10 * 60_000;

type Outcome = 'succeeded' | 'failed' | 'slow' | 'stopped';

describe('a circuit breaker', () => {
  let now: number;
  let random: number;
  let told: (number | 'closed')[];
  let breaker: CircuitBreaker;

  beforeEach(() => {
    now = 1_000;
    random = 0.5;
    told = [];
    breaker = new CircuitBreaker(
      () => now,
      () => random,
      { opened: (ms) => told.push(ms), closed: () => told.push('closed') },
    );
  });

  const attempt = (outcome: Outcome): void => {
    const trial = breaker.begin();
    if (outcome === 'succeeded') trial.succeed();
    else if (outcome === 'stopped') trial.end();
    else trial.fail(outcome === 'slow');
  };
  const attempts = (...outcomes: Outcome[]): void => {
    outcomes.forEach(attempt);
  };
  const open = (outcome: Outcome = 'failed'): void => {
    for (let index = 0; index < FAILURES_TO_OPEN; index++) attempt(outcome);
  };

  it('stays closed while failures are not in a row', () => {
    attempts('failed', 'failed', 'slow', 'failed', 'succeeded', 'failed', 'failed', 'failed', 'failed');
    expect(breaker).toMatchObject({ state: 'closed', waitMs: 0 });
    expect(told).toEqual([]);
  });

  it('opens after five failures in a row, no matter who gives up in between', () => {
    attempts('failed', 'failed', 'stopped', 'failed', 'failed', 'stopped', 'failed');
    expect(breaker).toMatchObject({ state: 'open', waitMs: 2_000 });
    expect(told).toEqual([2_000]);
  });

  it('pauses longer after failures that callers had to wait for', () => {
    open('slow');
    expect(breaker.waitMs).toBe(10_000);
  });

  it.each([
    [0, 1_500],
    [0.5, 2_000],
    [0.999_999, 2_500],
  ])('pauses for a random share: %d', (share, pauseMs) => {
    random = share;
    open();
    expect(breaker.waitMs).toBeCloseTo(pauseMs, 1);
  });

  it('does not pause longer because of attempts from before the pause', () => {
    const early = breaker.begin();
    open();
    early.fail(true);
    expect(breaker.waitMs).toBe(2_000);
    expect(told).toEqual([2_000]);
  });

  it('counts down the pause', () => {
    open();
    now += 1_999;
    expect(breaker).toMatchObject({ state: 'open', waitMs: 1 });
    now += 1;
    expect(breaker).toMatchObject({ state: 'half_open', waitMs: 0 });
  });

  it('lets one request at a time probe after the pause', () => {
    open();
    now += LONG_MS;
    const probe = breaker.begin();
    expect(breaker).toMatchObject({ state: 'half_open', waitMs: 1_000 });
    breaker.begin().end();
    expect(breaker.waitMs).toBe(1_000);
    probe.end();
    expect(breaker.waitMs).toBe(0);
  });

  it('closes when a probe succeeds, and says so once', () => {
    open();
    now += LONG_MS;
    attempts('succeeded', 'succeeded');
    expect(breaker).toMatchObject({ state: 'closed', waitMs: 0 });
    expect(told).toEqual([2_000, 'closed']);
  });

  it('doubles the pause when a probe fails, up to a minute', () => {
    open();
    const pauses = Array.from({ length: 7 }, () => {
      now += LONG_MS;
      attempt('failed');
      return breaker.waitMs;
    });
    expect(pauses).toEqual([4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('starts again with a short pause after a success', () => {
    open();
    now += LONG_MS;
    attempts('failed');
    now += LONG_MS;
    attempts('succeeded');
    open();
    expect(breaker.waitMs).toBe(2_000);
  });

  it('lets the next request probe when a probe is stopped', () => {
    open();
    now += LONG_MS;
    attempt('stopped');
    expect(breaker).toMatchObject({ state: 'half_open', waitMs: 0 });
  });

  it.each(['succeeded', 'failed'] as const)('lets the next request probe after a probe that %s', (outcome) => {
    open();
    now += LONG_MS;
    attempt(outcome);
    open();
    now += LONG_MS;
    expect(breaker).toMatchObject({ state: 'half_open', waitMs: 0 });
  });

  it('does not end the probe of another request when its own has ended before', () => {
    open();
    now += LONG_MS;
    const first = breaker.begin();
    first.end();
    breaker.begin();
    first.end();
    expect(breaker.waitMs).toBe(1_000);
  });

  it('is not told as closed by a request that is sent during the pause', () => {
    open();
    breaker.begin().end();
    expect(told).toEqual([2_000]);
  });

  it('counts a failure after the first text as a new one', () => {
    const trial = breaker.begin();
    trial.succeed();
    trial.fail(false);
    attempts('failed', 'failed', 'failed');
    expect(breaker.state).toBe('closed');
    attempt('failed');
    expect(breaker.state).toBe('open');
  });

  describe('that was asked to rest', () => {
    it('rests exactly so long, and is then used without a probe', () => {
      breaker.rest(7_000);
      now += 6_999;
      expect(breaker).toMatchObject({ state: 'open', waitMs: 1 });
      now += 1;
      expect(breaker).toMatchObject({ state: 'closed', waitMs: 0 });
      expect(told).toEqual([7_000]);
      attempt('stopped');
      expect(told).toEqual([7_000, 'closed']);
    });

    it('rests no longer than five minutes', () => {
      breaker.rest(3_600_000);
      expect(breaker.waitMs).toBe(300_000);
    });

    it('keeps the longer of two rests', () => {
      breaker.rest(7_000);
      breaker.rest(3_000);
      expect(breaker.waitMs).toBe(7_000);
      expect(told).toEqual([7_000]);
    });

    it('says so once for all requests that were in flight', () => {
      for (let count = 0; count < 20; count++) {
        breaker.rest(7_000);
        now += 5;
      }
      expect(told).toEqual([7_000]);
      expect(breaker.waitMs).toBe(6_995);
    });

    it('rests on when an earlier attempt succeeds', () => {
      const early = breaker.begin();
      breaker.rest(7_000);
      early.succeed();
      expect(breaker.waitMs).toBe(7_000);
      expect(told).toEqual([7_000]);
    });
  });
});
