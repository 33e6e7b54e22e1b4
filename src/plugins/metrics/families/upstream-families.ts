import type { Registry } from 'prom-client';
import type { BreakerState, RouteStates } from '../../../plugin-api/core/upstreams.js';
import type { StreamMetrics } from './stream-families.js';
import { counter, gauge, HistogramFamily } from './metric-types.js';

const MS_PER_SECOND = 1000;
const BREAKER_STATES: readonly BreakerState[] = ['closed', 'open', 'half_open'];

export function registerUpstreams(registry: Registry, { upstreams }: StreamMetrics, routes: RouteStates): void {
  counter(registry, {
    name: 'chat_upstream_attempts_total',
    help: 'Attempts to get an answer from an upstream.',
    labels: ['upstream'],
    *samples() {
      for (const [upstream, { attempts }] of upstreams) yield [{ upstream }, attempts];
    },
  });
  counter(registry, {
    name: 'chat_upstream_errors_total',
    help: 'Failed attempts, before or after the first text. The kind tells the cause: the provider refuses the key (unauthorized), gives the service no credentials (credentials_unavailable), limits the service (rate_limited), refuses the request (rejected), fails (server), does not answer in time (timeout), is unreachable (connection), or sends something else than an answer (protocol).',
    labels: ['upstream', 'code', 'kind'],
    *samples() {
      for (const [upstream, { errors }] of upstreams) {
        for (const [error, count] of errors) {
          const [code = '', kind = ''] = error.split(' ');
          yield [{ upstream, code, kind }, count];
        }
      }
    },
  });
  counter(registry, {
    name: 'chat_upstream_failovers_total',
    help: 'Failed attempts that were followed by an attempt at the next route.',
    labels: ['upstream'],
    *samples() {
      for (const [upstream, { failovers }] of upstreams) yield [{ upstream }, failovers];
    },
  });
  histogramOfUpstreams(
    'chat_upstream_time_to_first_token_seconds',
    'The time from a request to an upstream to its first text.',
    'firstToken',
  );
  histogramOfUpstreams(
    'chat_upstream_attempt_duration_seconds',
    'The time from a request to an upstream to the end of the attempt.',
    'duration',
  );
  gauge(registry, {
    name: 'chat_upstream_circuit_breaker_state',
    help: '1 for the state of an upstream, 0 for the others. An upstream is open when all of its routes that were used are open.',
    labels: ['upstream', 'state'],
    *samples() {
      for (const upstream of upstreams.keys()) {
        const current = routes.stateOf(upstream);
        for (const state of BREAKER_STATES) yield [{ upstream, state }, Number(state === current)];
      }
    },
  });
  gauge(registry, {
    name: 'chat_route_waiting_attempts',
    help: 'Attempts at a route that have no text yet. Only routes that were used are shown.',
    labels: ['upstream', 'model'],
    *samples() {
      for (const { upstream, model, state } of routes.used()) yield [{ upstream, model }, state.waitingCount];
    },
  });
  gauge(registry, {
    name: 'chat_route_longest_wait_seconds',
    help: 'For how long the oldest attempt at a route without a text has waited. 0: none waits.',
    labels: ['upstream', 'model'],
    *samples() {
      for (const { upstream, model, state } of routes.used()) {
        yield [{ upstream, model }, state.longestWaitMs / 1000];
      }
    },
  });
  gauge(registry, {
    name: 'chat_route_circuit_breaker_state',
    help: '1 for the state of a route, 0 for the others. A route is a model of an upstream. Only routes that were used are shown.',
    labels: ['upstream', 'model', 'state'],
    *samples() {
      for (const { upstream, model, breaker } of routes.all()) {
        if (model === undefined) continue;
        for (const state of BREAKER_STATES) yield [{ upstream, model, state }, Number(state === breaker.state)];
      }
    },
  });

  function histogramOfUpstreams(name: string, help: string, member: 'firstToken' | 'duration'): void {
    new HistogramFamily(registry, {
      name,
      help,
      label: 'upstream',
      divisor: MS_PER_SECOND,
      *buckets() {
        for (const [upstream, figures] of upstreams) yield [upstream, figures[member]];
      },
    });
  }
}
