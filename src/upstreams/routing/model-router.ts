import { Injectable } from '@nestjs/common';
import type { ModelConfig, UpstreamConfig, RouteConfig } from '../../platform/config/config.js';
import type { CallTrace } from '../completion/call-trace.js';
import { upstreamOfState } from '../completion/provider-state.js';
import { ProtocolRegistry, type ConnectedUpstream } from '../protocols/protocol-registry.js';
import type { StreamPart } from '../contract/stream-part.js';
import { AttemptFactory } from './attempt-factory.js';
import { FailoverStream, type CompletionRequest } from './failover-stream.js';
import { type CapabilityMembers, neededCapabilities, withRoutesFor } from './route-options.js';
import { RouteStates } from './route-states.js';
import { CAPABILITIES } from '../../platform/config/capabilities.js';
import { createHash } from 'node:crypto';
import { ServiceError } from '../../platform/common/service-error.js';

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

/** Sends a completion request to the providers of a model, by the priorities and weights of the model's routes. */
@Injectable()
export class ModelRouter {
  constructor(
    private readonly attempts: AttemptFactory,
    private readonly protocols: ProtocolRegistry,
    private readonly states: RouteStates,
  ) {}

  /**
   * Returns the model with the routes that take the options and the contents of a request.
   *
   * @throws {ServiceError} `invalid_request` when no route takes them. The details name the members and the model.
   */
  supporting(model: ModelConfig, request: CapabilityMembers & Pick<CompletionRequest, 'options'>): ModelConfig {
    const needs = neededCapabilities(request);
    return withRoutesFor(model, request.options, ({ upstream }) => this.protocols.of(upstream).protocol, needs);
  }

  /**
   * Returns the model with one route, which is an answer of this process: it needs no provider, and costs nothing.
   *
   * @param name the name of the upstream in the record, in logs and in metrics.
   */
  answering(model: ModelConfig, name: string, parts: AsyncIterable<StreamPart>): ModelConfig {
    const connected = answeringUpstream(name, parts);
    this.protocols.connectOnce(connected);
    return answeredBy(model, connected.upstream);
  }

  /**
   * Starts a completion.
   *
   * @param trace is filled while the completion runs.
   * @param onOver called once at the end, with `undefined` on success, or with the failure otherwise.
   */
  stream(
    model: ModelConfig,
    request: CompletionRequest,
    trace: CallTrace,
    onOver: (failure?: unknown) => void,
  ): FailoverStream {
    const routes = routesToTry(model, request.accountId, this.states, Math.random, upstreamOfState(request.messages));
    return new FailoverStream({ model, request, trace }, routes, this.attempts, onOver);
  }
}

/** The times of an answer that does not come from a provider. */
const TIMEOUTS = { connectMs: 1, firstTokenMs: 60_000, idleMs: 60_000 };
const FREE = { inputPerMillion: 0, outputPerMillion: 0 };

/** Returns an upstream that answers one request with `parts`. */
function answeringUpstream(name: string, parts: AsyncIterable<StreamPart>): ConnectedUpstream {
  return {
    upstream: {
      ...{ name, protocol: name, baseUrl: undefined, apiKey: undefined, headers: {}, options: undefined },
      ...{ timeouts: TIMEOUTS, maxTokensField: 'max_tokens', includeUsage: false, maxEventBytes: Infinity },
    },
    protocol: { transport: 'in-process', name, capabilities: CAPABILITIES, stream: () => parts },
  };
}

/** Returns the model with this upstream as its only route. It costs nothing. */
function answeredBy(model: ModelConfig, upstream: UpstreamConfig): ModelConfig {
  const price = { currency: model.price?.currency ?? 'USD', ...FREE };
  return {
    ...model,
    routes: [{ upstream, model: model.id, unsupportedOptions: [], price, priority: 0, weight: 1 }],
  };
}
