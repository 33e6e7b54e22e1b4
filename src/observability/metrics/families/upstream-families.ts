import type { Registry } from 'prom-client';
import type { BreakerState } from '../../../upstreams/circuit-breaker.js';
import type { StreamMetrics } from '../stream-metrics.js';
import { counter, gauge } from './counter-and-gauge.js';
import { HistogramFamily } from './histogram-family.js';

const MS_PER_SECOND = 1000;
const BREAKER_STATES: readonly BreakerState[] = ['closed', 'open', 'half_open'];

/** @param breakers returns the state of the circuit breaker of an upstream. */
export function registerUpstreams(
  registry: Registry,
  { upstreams }: StreamMetrics,
  breakers: (upstream: string) => BreakerState,
): void {
  counter(registry, {
    name: 'chat_upstream_attempts_total',
    help: 'Tries to get an answer from an upstream.',
    labels: ['upstream'],
    *samples() {
      for (const [upstream, { attempts }] of upstreams) yield [{ upstream }, attempts];
    },
  });
  counter(registry, {
    name: 'chat_upstream_errors_total',
    help: 'Those of them that failed, before the first text or after it.',
    labels: ['upstream', 'code'],
    *samples() {
      for (const [upstream, { errors }] of upstreams) {
        for (const [code, count] of errors) yield [{ upstream, code }, count];
      }
    },
  });
  counter(registry, {
    name: 'chat_upstream_failovers_total',
    help: 'Those of them that failed, and were followed by one at the next route.',
    labels: ['upstream'],
    *samples() {
      for (const [upstream, { failovers }] of upstreams) yield [{ upstream }, failovers];
    },
  });
  histogramOfUpstreams(
    'chat_upstream_first_token_seconds',
    'From a request to an upstream to its first text.',
    'firstToken',
  );
  histogramOfUpstreams(
    'chat_upstream_attempt_duration_seconds',
    'From a request to an upstream to its end.',
    'duration',
  );
  gauge(registry, {
    name: 'chat_upstream_breaker_state',
    help: '1 for the state in which the circuit breaker of an upstream is, 0 for the others.',
    labels: ['upstream', 'state'],
    *samples() {
      for (const upstream of upstreams.keys()) {
        const current = breakers(upstream);
        for (const state of BREAKER_STATES) yield [{ upstream, state }, Number(state === current)];
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
