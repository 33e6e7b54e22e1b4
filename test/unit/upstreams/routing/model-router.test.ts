import { Logger } from '@nestjs/common';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { ModelConfig, RouteConfig, UpstreamConfig } from '../../../../src/platform/config/config.js';
import { providerFailure } from '../../../../src/upstreams/contract/provider-failure.js';
import { routesToTry } from '../../../../src/upstreams/routing/model-router.js';
import { RouteStates } from '../../../../src/upstreams/routing/route-states.js';

const ACCOUNTS = Array.from({ length: 1_000 }, (_, index) => `account-${index}`);

function route(name: string, { priority = 1, weight = 1, model = 'fast' } = {}): RouteConfig {
  return { upstream: { name } as UpstreamConfig, model, unsupportedOptions: [], priority, weight };
}

/** The names of the upstreams, in order. */
const namesOf = (routes: Iterable<RouteConfig>): string[] => [...routes].map(({ upstream }) => upstream.name);

describe('the order of routes', () => {
  let states: RouteStates;

  beforeEach(() => {
    states = new RouteStates();
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  });

  /** @param draws the random numbers, again and again. */
  function order(routes: readonly RouteConfig[], draws: readonly number[] = [0], accountId = 'ada', sticky = false) {
    let index = 0;
    const random = () => draws[index++ % draws.length] ?? 0;
    const model = { routes, sticky } as Pick<ModelConfig, 'routes' | 'sticky'>;
    return namesOf(routesToTry(model, accountId, states, random));
  }
  const coolDown = (one: RouteConfig, retryAfterSeconds: number): void => {
    const failure = providerFailure('upstream_unavailable', 'HTTP 429', { retryAfterSeconds });
    states.of(one).begin().onEnd({ type: 'failed', failure });
  };

  it('is by priority, with the lowest number first, wherever the route stands in the list', () => {
    const routes = [
      route('third', { priority: 7 }),
      route('first', { priority: 1 }),
      route('second', { priority: 2, weight: 1_000 }),
    ];
    for (const draw of [0, 0.5, 0.999]) expect(order(routes, [draw])).toEqual(['first', 'second', 'third']);
  });

  it.each([
    [0, 'a'],
    [0.749, 'a'],
    [0.751, 'b'],
    [0.999, 'b'],
  ])('within a priority is by weight: at the random number %d, %s comes first', (draw, first) => {
    const routes = [route('a', { weight: 3 }), route('b', { weight: 1 }), route('later', { priority: 2 })];
    const names = order(routes, [draw]);
    expect(names[0]).toBe(first);
    expect(names.at(-1)).toBe('later');
    expect([...names].sort()).toEqual(['a', 'b', 'later']);
  });

  it('prefers the less loaded of two routes', () => {
    const routes = [route('a'), route('b')];
    const use = states.of(route('a')).begin();
    expect(order(routes, [0])).toEqual(['b', 'a']);
    use.onEnd({ type: 'stopped' });
    expect(order(routes, [0])).toEqual(['a', 'b']);
  });

  it('compares only the two routes that were drawn', () => {
    const routes = [route('a'), route('b'), route('idle')];
    states.of(route('a')).begin();
    states.of(route('a')).begin();
    states.of(route('b')).begin();
    expect(order(routes, [0])[0]).toBe('b');
    expect(order(routes, [0, 0.999])[0]).toBe('idle');
  });

  it('compares the load for each unit of weight', () => {
    const routes = [route('large', { weight: 10 }), route('small', { weight: 1 })];
    for (let count = 0; count < 5; count++) states.of(route('large')).begin();
    states.of(route('small')).begin();
    expect(order(routes, [0.999])[0]).toBe('large');
  });

  it('leaves out a route whose cooldown begins while others are tried', () => {
    const routes = [route('a'), route('b', { priority: 2 }), route('c', { priority: 3 })];
    const trying = routesToTry({ routes, sticky: false } as never, 'ada', states, () => 0);
    expect(trying.next().value).toBe(routes[0]);
    coolDown(route('b'), 30);
    expect(trying.next().value).toBe(routes[2]);
  });

  describe('of a sticky model', () => {
    const routes = [route('a', { weight: 3 }), route('b'), route('later', { priority: 2 })];
    const firstOf = (accountId: string, draw = 0.5) => order(routes, [draw], accountId, true)[0] ?? '';

    it('is the same for an account each time, in all replicas, whatever the load', () => {
      const firsts = ACCOUNTS.map((accountId) => firstOf(accountId));
      states = new RouteStates();
      for (let count = 0; count < 9; count++) states.of(route('a')).begin();
      expect(ACCOUNTS.map((accountId) => firstOf(accountId, 0.99))).toEqual(firsts);
    });

    it('spreads the accounts by weight', () => {
      const atA = ACCOUNTS.filter((accountId) => firstOf(accountId) === 'a').length;
      expect(atA / ACCOUNTS.length).toBeGreaterThan(0.7);
      expect(atA / ACCOUNTS.length).toBeLessThan(0.8);
    });

    it('moves only the accounts of a route that cools down', () => {
      const before = new Map(ACCOUNTS.map((accountId) => [accountId, firstOf(accountId)]));
      coolDown(route('b'), 30);
      for (const accountId of ACCOUNTS) expect(firstOf(accountId)).toBe('a');
      states = new RouteStates();
      for (const accountId of ACCOUNTS) expect(firstOf(accountId)).toBe(before.get(accountId));
    });
  });
});
