import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import type { RouteConfig, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { ProviderFailure, providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import type { RedisCooldowns } from '../../../../src/upstreams/routing/redis-cooldowns.js';
import type { RouteState } from '../../../../src/upstreams/routing/route-state.js';
import { RouteStates } from '../../../../src/upstreams/routing/route-states.js';

const FAILURES_TO_OPEN = 5;
const FIVE_MINUTES_MS = 300_000;
const STOPPED = { type: 'stopped' } as const;

/** The cooldowns of all replicas. Records what this replica publishes. */
class FakeCooldowns {
  readonly published: [string, number][] = [];
  receive: (key: string, ms: number) => void = () => undefined;

  subscribe(listener: (key: string, ms: number) => void): void {
    this.receive = listener;
  }

  publish(key: string, ms: number): void {
    this.published.push([key, ms]);
  }
}

let cooldowns: FakeCooldowns;
let states: RouteStates;
let fast: RouteState;
let smart: RouteState;
let other: RouteState;
let logged: unknown[];

const route = (name: string, model: string): RouteConfig => ({
  upstream: { name } as UpstreamConfig,
  model,
  unsupportedOptions: [],
  priority: 1,
  weight: 1,
});
const waits = () => [fast, smart, other].map(({ waitMs }) => Math.round(waitMs));
const attempt = (state: RouteState, failure?: ServiceError): void => {
  state.begin().onEnd(failure === undefined ? { type: 'complete' } : { type: 'failed', failure });
};
const failTimes = (times: number, failure: ServiceError, state = fast): void => {
  for (let count = 0; count < times; count++) attempt(state, failure);
};

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.5);
  logged = [];
  vi.spyOn(Logger.prototype, 'warn').mockImplementation((entry: unknown) => void logged.push(entry));
  vi.spyOn(Logger.prototype, 'log').mockImplementation((entry: unknown) => void logged.push(entry));
  cooldowns = new FakeCooldowns();
  states = new RouteStates(cooldowns as unknown as RedisCooldowns);
  fast = states.of(route('acme', 'fast one'));
  smart = states.of(route('acme', 'smart'));
  other = states.of(route('other', 'fast one'));
});

describe('the state of a route', () => {
  it('is one for all requests of the model at its upstream', () => {
    expect(states.of(route('acme', 'fast one'))).toBe(fast);
    expect([smart, other]).not.toContain(fast);
  });

  it('counts the attempts in flight', () => {
    const [first, second] = [fast.begin(), fast.begin()];
    expect([fast.inFlight, smart.inFlight]).toEqual([2, 0]);
    first.onEnd(STOPPED);
    expect(fast.inFlight).toBe(1);
    second.onEnd({ type: 'complete' });
    expect(fast.inFlight).toBe(0);
  });

  it('opens the circuit of the route alone after failures of the model, for 2 s after fast failures', () => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_error', 'HTTP 500'));
    expect(waits()).toEqual([2_000, 0, 0]);
  });

  it('opens the circuit for 10 s after failures that callers had to wait for', () => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_timeout', 'no token'));
    expect(waits()).toEqual([10_000, 0, 0]);
  });

  it('opens the circuit of all routes of an upstream after failures of the whole upstream', () => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_error', 'refused', { scope: 'upstream' }));
    expect(waits()).toEqual([2_000, 2_000, 0]);
  });

  it('counts failures of a plugin that does not know its scope for the route', () => {
    failTimes(FAILURES_TO_OPEN, new ServiceError('upstream_error', 'It broke.'));
    expect(waits()).toEqual([2_000, 0, 0]);
  });

  it.each([
    providerFailure('upstream_rejected', 'HTTP 400'),
    providerFailure('upstream_unavailable', 'HTTP 429'),
    new ServiceError('internal_error', 'A bug.'),
    new ServiceError('key_revoked', 'Gone.'),
  ])('opens no circuit after $code, which says nothing about the route', (failure) => {
    failTimes(2 * FAILURES_TO_OPEN, failure);
    expect(waits()).toEqual([0, 0, 0]);
    expect(cooldowns.published).toEqual([]);
  });

  it('counts attempts and errors since the start and of the last five minutes, with the last error', () => {
    const cause = { kind: 'unauthorized', status: 401 } as const;
    attempt(fast);
    attempt(fast, providerFailure('upstream_error', 'HTTP 401', { failureCause: cause }));
    vi.advanceTimersByTime(240_000);
    const running = fast.begin();
    vi.advanceTimersByTime(1_000);
    const { counts } = fast;
    expect(counts).toMatchObject({ attempts: 3, recent: { attempts: 3, errors: 1 }, attemptedAgoMs: 1_000 });
    expect([...counts.errors]).toEqual([['upstream_error unauthorized', 1]]);
    expect(counts.lastError).toEqual({
      agoMs: 241_000,
      text: 'upstream_error (unauthorized, HTTP 401): the provider refuses the key or the account of the service',
    });
    vi.advanceTimersByTime(120_000);
    running.onEnd({ type: 'complete' });
    expect(counts.recent).toEqual({ attempts: 1, errors: 0 });
    vi.advanceTimersByTime(600_000);
    expect(counts).toMatchObject({ attempts: 3, recent: { attempts: 0, errors: 0 } });
    expect(smart.counts).toMatchObject({ attempts: 0, attemptedAgoMs: undefined, lastError: undefined });
  });

  it('is closed by an operator, here and at the other replicas', () => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_timeout', 'no token'));
    cooldowns.receive('acme', 5_000);
    states.close('acme', 'fast one');
    states.close('acme', undefined);
    expect(waits()).toEqual([0, 0, 0]);
    expect(cooldowns.published).toEqual([
      ['acme fast one', 0],
      ['acme', 0],
    ]);
    failTimes(FAILURES_TO_OPEN - 1, providerFailure('upstream_error', 'HTTP 500'));
    expect(waits()).toEqual([0, 0, 0]);
    cooldowns.receive('other', 5_000);
    cooldowns.receive('other', 0);
    expect(waits()).toEqual([0, 0, 0]);
  });

  it('counts no failure of a stopped attempt', () => {
    for (let count = 0; count < FAILURES_TO_OPEN; count++) fast.begin().onEnd(STOPPED);
    expect(waits()).toEqual([0, 0, 0]);
  });

  it('counts the first text as a success, also of an attempt that fails later', () => {
    const failure = providerFailure('upstream_error', 'HTTP 500');
    failTimes(FAILURES_TO_OPEN - 1, failure);
    const late = fast.begin();
    late.onFirstText();
    late.onEnd({ type: 'failed', failure });
    failTimes(FAILURES_TO_OPEN - 2, failure);
    expect(waits()).toEqual([0, 0, 0]);
    failTimes(1, failure);
    expect(waits()).toEqual([2_000, 0, 0]);
  });

  it('begins to count again after a success, also of the whole upstream', () => {
    const failure = providerFailure('upstream_error', 'refused', { scope: 'upstream' });
    failTimes(FAILURES_TO_OPEN - 1, failure);
    attempt(smart);
    failTimes(FAILURES_TO_OPEN - 1, failure);
    expect(waits()).toEqual([0, 0, 0]);
  });

  it('lets one attempt probe the upstream when its circuit is half open, and the next one when it is over', () => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_error', 'refused', { scope: 'upstream' }));
    vi.advanceTimersByTime(2_000);
    expect(fast.waitMs).toBe(0);
    const probe = fast.begin();
    expect(smart.waitMs).toBe(1_000);
    probe.onEnd(STOPPED);
    expect(smart.waitMs).toBe(0);
  });

  it('lets one attempt probe when the circuit is half open, and the next one when it is over', () => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_error', 'refused', { scope: 'route' }));
    vi.advanceTimersByTime(2_000);
    const probe = fast.begin();
    expect(waits()).toEqual([1_000, 0, 0]);
    probe.onEnd(STOPPED);
    expect(waits()).toEqual([0, 0, 0]);
  });
});

describe('a cooldown that a provider demands', () => {
  it.each([
    ['route', 'acme fast one', [7_000, 0, 0]],
    ['upstream', 'acme', [7_000, 7_000, 0]],
  ] as const)('is for the %s, and is published to the other replicas', (scope, key, expected) => {
    attempt(fast, new ProviderFailure('upstream_unavailable', 'Later.', { scope, retryAfterSeconds: 7 }));
    expect(waits()).toEqual(expected);
    expect(cooldowns.published).toEqual([[key, 7_000]]);
  });

  it('is five minutes at most', () => {
    attempt(fast, providerFailure('upstream_unavailable', 'Later.', { retryAfterSeconds: 301 }));
    expect(waits()).toEqual([FIVE_MINUTES_MS, 0, 0]);
    expect(cooldowns.published).toEqual([['acme fast one', FIVE_MINUTES_MS]]);
  });

  it('is not read from a rejected request', () => {
    attempt(fast, providerFailure('upstream_rejected', 'No.', { retryAfterSeconds: 7 }));
    expect([waits(), cooldowns.published]).toEqual([[0, 0, 0], []]);
  });

  it('of another replica applies here, too, and is not published again', () => {
    cooldowns.receive('acme', 3_000);
    cooldowns.receive('other fast one', 9_000);
    expect(waits()).toEqual([3_000, 3_000, 9_000]);
    expect(cooldowns.published).toEqual([]);
  });

  it('of another replica applies to routes that this replica has not used', () => {
    cooldowns.receive('fresh some model', 4_000);
    expect(states.of(route('fresh', 'some model')).waitMs).toBe(4_000);
  });

  it('needs no other replicas', () => {
    const alone = new RouteStates().of(route('acme', 'fast'));
    attempt(alone, providerFailure('upstream_unavailable', 'Later.', { retryAfterSeconds: 7 }));
    expect(alone.waitMs).toBe(7_000);
  });
});

describe('the state of an upstream', () => {
  const openCircuit = (state: RouteState) => {
    failTimes(FAILURES_TO_OPEN, providerFailure('upstream_error', 'HTTP 500'), state);
  };

  it('is closed when nothing is known, and while one of its routes is closed', () => {
    expect(states.stateOf('unheard-of')).toBe('closed');
    openCircuit(fast);
    expect(states.stateOf('acme')).toBe('closed');
  });

  it('is open while all of its routes are, and half open when the first may be tried', () => {
    openCircuit(fast);
    vi.advanceTimersByTime(1_000);
    openCircuit(smart);
    expect(states.stateOf('acme')).toBe('open');
    vi.advanceTimersByTime(1_000);
    expect(states.stateOf('acme')).toBe('half_open');
    expect(states.stateOf('other')).toBe('closed');
  });

  it('is open during a cooldown of the whole upstream', () => {
    cooldowns.receive('other', 1_000);
    expect(states.stateOf('other')).toBe('open');
  });

  it('is listed with the names of its routes', () => {
    expect([...states.all()].map(({ upstream, model }) => [upstream, model])).toEqual([
      ['acme', 'fast one'],
      ['acme', undefined],
      ['acme', 'smart'],
      ['other', 'fast one'],
      ['other', undefined],
    ]);
  });

  it('is in the log when it changes', () => {
    openCircuit(fast);
    vi.advanceTimersByTime(2_000);
    attempt(fast);
    cooldowns.receive('other', 1_500);
    expect(logged).toEqual([
      { msg: 'Circuit opened', upstream: 'acme', model: 'fast one', openMs: 2_000 },
      { msg: 'Circuit closed', upstream: 'acme', model: 'fast one' },
      { msg: 'Circuit opened', upstream: 'other', model: undefined, openMs: 1_500 },
    ]);
  });
});
