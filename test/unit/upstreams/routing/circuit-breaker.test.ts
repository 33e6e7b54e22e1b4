import { beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../../../src/upstreams/routing/circuit-breaker.js';

const FAILURES_TO_OPEN = 5;
const LONG_MS = 10 * 60_000;

type Outcome = 'succeeded' | 'failed' | 'slow' | 'stopped';

describe('a circuit breaker', () => {
  let now: number;
  let random: number;
  let reported: (number | 'closed')[];
  let breaker: CircuitBreaker;

  beforeEach(() => {
    now = 1_000;
    random = 0.5;
    reported = [];
    breaker = new CircuitBreaker(
      () => now,
      () => random,
      { opened: (ms) => reported.push(ms), closed: () => reported.push('closed') },
    );
  });

  const begin = (): object => {
    const one = {};
    breaker.begin(one);
    return one;
  };
  const attempt = (outcome: Outcome): void => {
    const one = begin();
    if (outcome === 'succeeded') breaker.succeed(one);
    else if (outcome === 'stopped') breaker.end(one);
    else breaker.fail(one, outcome === 'slow');
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
    expect(reported).toEqual([]);
  });

  it('opens after five failures in a row, regardless of stopped attempts between them', () => {
    attempts('failed', 'failed', 'stopped', 'failed', 'failed', 'stopped', 'failed');
    expect(breaker).toMatchObject({ state: 'open', waitMs: 2_000 });
    expect(reported).toEqual([2_000]);
  });

  it('says since when it is open and why, also while it probes', () => {
    expect(breaker).toMatchObject({ openForMs: undefined, failure: undefined });
    for (const code of [
      'upstream_error',
      'upstream_error',
      'upstream_error',
      'upstream_error',
      'upstream_timeout',
    ] as const) {
      now += 100;
      breaker.fail(begin(), false, code);
    }
    now += 300;
    expect(breaker).toMatchObject({ state: 'open', openForMs: 300, failure: 'upstream_timeout' });
    now += 5_000;
    expect(breaker.state).toBe('half_open');
    breaker.fail(begin(), false, 'upstream_error');
    now += 10;
    expect(breaker).toMatchObject({ state: 'open', openForMs: 5_310, failure: 'upstream_error' });
    now += LONG_MS;
    breaker.succeed(begin());
    expect(breaker).toMatchObject({ openForMs: undefined, failure: undefined });
    breaker.coolDown(1_000, 'upstream_unavailable');
    now += 400;
    breaker.coolDown(60_000, 'upstream_error');
    expect(breaker).toMatchObject({ openForMs: 400, failure: 'upstream_error' });
  });

  it('is open longer after failures that callers had to wait for', () => {
    open('slow');
    expect(breaker.waitMs).toBe(10_000);
  });

  it.each([
    [0, 1_500],
    [0.5, 2_000],
    [0.999_999, 2_500],
  ])('is open for a random time: %d', (share, openMs) => {
    random = share;
    open();
    expect(breaker.waitMs).toBeCloseTo(openMs, 1);
  });

  it('is not open longer because of attempts that began before', () => {
    const early = begin();
    open();
    breaker.fail(early, true);
    expect(breaker.waitMs).toBe(2_000);
    expect(reported).toEqual([2_000]);
  });

  it('is half open when its time is over', () => {
    open();
    now += 1_999;
    expect(breaker).toMatchObject({ state: 'open', waitMs: 1 });
    now += 1;
    expect(breaker).toMatchObject({ state: 'half_open', waitMs: 0 });
  });

  it('lets one request at a time probe when it is half open', () => {
    open();
    now += LONG_MS;
    const probe = begin();
    expect(breaker).toMatchObject({ state: 'half_open', waitMs: 1_000 });
    breaker.end(begin());
    expect(breaker.waitMs).toBe(1_000);
    breaker.end(probe);
    expect(breaker.waitMs).toBe(0);
  });

  it('closes when a probe succeeds, and reports it once', () => {
    open();
    now += LONG_MS;
    attempts('succeeded', 'succeeded');
    expect(breaker).toMatchObject({ state: 'closed', waitMs: 0 });
    expect(reported).toEqual([2_000, 'closed']);
  });

  it('is open twice as long when a probe fails, up to a minute', () => {
    open();
    const times = Array.from({ length: 7 }, () => {
      now += LONG_MS;
      attempt('failed');
      return breaker.waitMs;
    });
    expect(times).toEqual([4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('is open for a short time again after a success', () => {
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
    const first = begin();
    breaker.end(first);
    begin();
    breaker.end(first);
    expect(breaker.waitMs).toBe(1_000);
  });

  it('is not reported as closed by a request that begins while it is open', () => {
    open();
    breaker.end(begin());
    expect(reported).toEqual([2_000]);
  });

  it('counts a failure after the first text as a new one', () => {
    const one = begin();
    breaker.succeed(one);
    breaker.fail(one, false);
    attempts('failed', 'failed', 'failed');
    expect(breaker.state).toBe('closed');
    attempt('failed');
    expect(breaker.state).toBe('open');
  });

  describe('with a cooldown', () => {
    it('is open for exactly this time, and is then used without a probe', () => {
      breaker.coolDown(7_000);
      now += 6_999;
      expect(breaker).toMatchObject({ state: 'open', waitMs: 1 });
      now += 1;
      expect(breaker).toMatchObject({ state: 'closed', waitMs: 0 });
      expect(reported).toEqual([7_000]);
      attempt('stopped');
      expect(reported).toEqual([7_000, 'closed']);
    });

    it('keeps the longer of two cooldowns', () => {
      breaker.coolDown(7_000);
      breaker.coolDown(3_000);
      expect(breaker.waitMs).toBe(7_000);
      expect(reported).toEqual([7_000]);
    });

    it('reports it once for all requests in flight', () => {
      for (let count = 0; count < 20; count++) {
        breaker.coolDown(7_000);
        now += 5;
      }
      expect(reported).toEqual([7_000]);
      expect(breaker.waitMs).toBe(6_995);
    });

    it('stays open when an earlier attempt succeeds', () => {
      const early = begin();
      breaker.coolDown(7_000);
      breaker.succeed(early);
      expect(breaker.waitMs).toBe(7_000);
      expect(reported).toEqual([7_000]);
    });
  });
});
