import { collectDefaultMetrics, type Registry } from 'prom-client';
import { VERSION } from '../../../common/version.js';
import type { EventLoopDelay } from '../event-loop-delay.js';
import type { MetricsSources } from '../metrics-sources.js';
import { counter, gauge } from './counter-and-gauge.js';

export function registerProcess(
  registry: Registry,
  { openStreams, places, drainState, shedLoad, connections }: MetricsSources,
  delay: EventLoopDelay,
): void {
  collectDefaultMetrics({ register: registry });
  gauge(registry, {
    name: 'chat_build_info',
    help: '1, with the version of the service and of Node.',
    labels: ['version', 'node_version'],
    samples: () => [[{ version: VERSION, node_version: process.version }, 1]],
  });
  gauge(registry, {
    name: 'chat_event_loop_delay_seconds',
    help: 'By how much timers came late since the last scrape; the quantile 1 is the worst.',
    labels: ['quantile'],
    *samples() {
      for (const [quantile, seconds] of delay.take()) yield [{ quantile }, seconds];
    },
  });
  gauge(registry, {
    name: 'chat_streams_open',
    help: 'Streams that run.',
    samples: () => [[{}, openStreams.count]],
  });
  gauge(registry, {
    name: 'chat_client_connections',
    help: 'Connections of clients that are open.',
    samples: () => [[{}, connections.count]],
  });
  gauge(registry, {
    name: 'chat_slots_held',
    help: 'Places of the limits of streams at once that requests of this process hold.',
    samples: () => [[{}, places.heldInTiers]],
  });
  counter(registry, {
    name: 'chat_shed_total',
    help: 'Requests and connections turned away or cut off to protect the other callers, by reason.',
    labels: ['reason'],
    *samples() {
      for (const [reason, count] of shedLoad.counts) yield [{ reason }, count];
    },
  });
  gauge(registry, {
    name: 'chat_draining',
    help: '1 while the process is stopping, and takes no new streams.',
    samples: () => [[{}, Number(drainState.isDraining)]],
  });
}
