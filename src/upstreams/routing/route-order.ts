import { createHash } from 'node:crypto';
import { ServiceError } from '../../platform/common/service-error.js';
import type { ModelConfig, RouteConfig } from '../../platform/config/config.js';
import type { RouteStates } from './route-states.js';

const MAX_UINT32 = 2 ** 32;

type Routes = readonly RouteConfig[];

/** The routes of each model by priority, so that a request does not sort them again. */
const groupsByRoutes = new WeakMap<Routes, readonly Routes[]>();

/**
 * Yields the routes to try, in order: by priority, and within a priority by weight and load. For a sticky model, an account
 * gets the same order each time. Skips routes whose circuit is open.
 *
 * @param preferred the name of the upstream that has made the state of the conversation: its route is the first, whatever its priority.
 * @param random returns a number from 0 (inclusive) to 1 (exclusive).
 * @throws {ServiceError} `upstream_unavailable` when the circuit of every route is open, with the time until the first one is tried again.
 */
export function* routesToTry(
  { routes, sticky }: Pick<ModelConfig, 'routes' | 'sticky'>,
  accountId: string,
  states: RouteStates,
  random: () => number,
  preferred?: string,
): Generator<RouteConfig, void> {
  const first = routes.find(({ upstream }) => upstream.name === preferred);
  let hasTried = first !== undefined && states.of(first).waitMs === 0;
  if (first !== undefined && hasTried) yield first;
  const triedFirst = hasTried ? first : undefined;
  for (const group of groupsOf(routes)) {
    const left = group.filter((route) => route !== triedFirst);
    for (let route = next(); route !== undefined; route = next()) {
      hasTried = true;
      yield route;
    }

    function next(): RouteConfig | undefined {
      const usable = left.filter((route) => states.of(route).waitMs === 0);
      const route = sticky ? ownRoute(usable, accountId) : lessLoaded(usable, states, random);
      if (route !== undefined) left.splice(left.indexOf(route), 1);
      return route;
    }
  }
  if (!hasTried) throw allOpen(Math.min(...routes.map((route) => states.of(route).waitMs)));
}

function groupsOf(routes: Routes): readonly Routes[] {
  const known = groupsByRoutes.get(routes);
  if (known !== undefined) return known;
  const priorities = [...new Set(routes.map(({ priority }) => priority))].sort((a, b) => a - b);
  const groups = priorities.map((priority) => routes.filter((route) => route.priority === priority));
  groupsByRoutes.set(routes, groups);
  return groups;
}

/** Draws two routes by weight, and returns the one with fewer attempts in flight for its weight. */
function lessLoaded(routes: Routes, states: RouteStates, random: () => number): RouteConfig | undefined {
  const first = draw(routes, random);
  const second = draw(
    routes.filter((route) => route !== first),
    random,
  );
  if (first === undefined || second === undefined) return first;
  return loadOf(second, states) < loadOf(first, states) ? second : first;
}

function loadOf(route: RouteConfig, states: RouteStates): number {
  return states.of(route).inFlight / route.weight;
}

function draw(routes: Routes, random: () => number): RouteConfig | undefined {
  if (routes.length < 2) return routes[0];
  let point = random() * routes.reduce((sum, { weight }) => sum + weight, 0);
  for (const route of routes) {
    point -= route.weight;
    if (point < 0) return route;
  }
  return routes.at(-1);
}

/**
 * Returns the route of an account, by weighted rendezvous hashing: all replicas choose the same route, and only the accounts
 * of a route that is missing move to another route.
 */
function ownRoute(routes: Routes, accountId: string): RouteConfig | undefined {
  let best: RouteConfig | undefined;
  let highest = -Infinity;
  for (const route of routes) {
    const score = -route.weight / Math.log(hashOf(`${accountId} ${route.upstream.name} ${route.model}`));
    if (score > highest) [best, highest] = [route, score];
  }
  return best;
}

/** Returns a number between 0 and 1, both exclusive. */
function hashOf(text: string): number {
  return (createHash('sha256').update(text).digest().readUInt32BE() + 0.5) / MAX_UINT32;
}

function allOpen(waitMs: number): ServiceError {
  return new ServiceError(
    'upstream_unavailable',
    'All providers of this model are unavailable for now. Try again later.',
    {
      retryAfterMs: waitMs,
    },
  );
}
