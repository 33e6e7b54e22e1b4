import { beforeEach, describe, expect, it } from 'vitest';
import { CircuitBreaker, type AttemptOutcome } from '../../src/upstreams/routing/circuit-breaker.js';

const LONG_MS = 60_000;

describe('a circuit breaker', () => {
  let now: number;
  let breaker: CircuitBreaker;

  beforeEach(() => {
    now = 0;
    breaker = new CircuitBreaker(() => now);
  });

  const attempts = (...outcomes: AttemptOutcome[]) => {
    for (const outcome of outcomes) breaker.begin()(outcome);
  };
  const open = (outcome: AttemptOutcome = 'failed') => {
    attempts(outcome, outcome, outcome, outcome, outcome);
  };

  it('stays closed while failures are not in a row', () => {
    attempts('failed', 'failed', 'slow', 'failed', 'succeeded', 'failed', 'failed', 'failed', 'failed');
    expect(breaker).toMatchObject({ state: 'closed', isUsable: true });
  });

  it('opens after five failures in a row, whoever gives up in between', () => {
    attempts('failed', 'failed', 'abandoned', 'failed', 'failed', 'abandoned', 'failed');
    expect(breaker).toMatchObject({ state: 'open', isUsable: false });
  });

  it('calls an upstream dead only when callers had to wait for its failures', () => {
    open('failed');
    expect(breaker.isDead).toBe(false);
    open('slow');
    expect(breaker.isDead).toBe(true);
  });

  it('lets one request at a time probe after a while', () => {
    open();
    now += LONG_MS;
    expect(breaker).toMatchObject({ state: 'half_open', isUsable: true });
    breaker.begin();
    expect(breaker).toMatchObject({ state: 'half_open', isUsable: false });
  });

  it('closes when a probe succeeds', () => {
    open();
    now += LONG_MS;
    attempts('succeeded');
    expect(breaker).toMatchObject({ state: 'closed', isUsable: true });
  });

  it('opens again when a probe fails', () => {
    open();
    now += LONG_MS;
    attempts('failed');
    expect(breaker).toMatchObject({ state: 'open', isUsable: false });
  });

  it('lets the next one probe when a probe is abandoned', () => {
    open();
    now += LONG_MS;
    attempts('abandoned');
    expect(breaker).toMatchObject({ state: 'half_open', isUsable: true });
  });

  it('counts a failure after the first text as a new one', () => {
    const settle = breaker.begin();
    settle('succeeded');
    settle('failed');
    attempts('failed', 'failed', 'failed');
    expect(breaker.state).toBe('closed');
    attempts('failed');
    expect(breaker.state).toBe('open');
  });
});
