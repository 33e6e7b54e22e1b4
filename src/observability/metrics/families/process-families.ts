import { collectDefaultMetrics, type Registry } from 'prom-client';
import { VERSION } from '../../../common/version.js';
import type { EventLoopDelay } from '../event-loop-delay.js';
import type { MetricsSources } from '../metrics-sources.js';
import { counter, gauge } from './counter-and-gauge.js';
import { SummaryFamily } from './summary-family.js';

const MISNAMED = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

export function registerProcess(
  registry: Registry,
  { config, reloads, openStreams, slots, drainState, shedLoad, connections }: MetricsSources,
  delay: EventLoopDelay,
): void {
  collectDefaultMetrics({ register: registry });
  // Gauges whose names end like the names of counters. The gauges by type without the suffix have the same values.
  for (const name of MISNAMED) registry.removeSingleMetric(name);
  gauge(registry, {
    name: 'chat_build_info',
    help: 'Always 1. The labels hold the versions of the service and of Node.js.',
    labels: ['version', 'node_version'],
    samples: () => [[{ version: VERSION, node_version: process.version }, 1]],
  });
  gauge(registry, {
    name: 'chat_config_info',
    help: 'Always 1. The label holds the hash of the configuration file in use.',
    labels: ['hash'],
    samples: () => [[{ hash: config.catalogHash }, 1]],
  });
  counter(registry, {
    name: 'chat_config_reloads_total',
    help: 'How often the configuration file was read again. After a failure, the previous configuration stays.',
    labels: ['result'],
    samples: () => [
      [{ result: 'success' }, reloads.succeeded],
      [{ result: 'failure' }, reloads.failed],
    ],
  });
  new SummaryFamily(
    registry,
    'chat_event_loop_delay_seconds',
    'The delay of timers since the last scrape. The quantile 1 is the maximum.',
    () => delay.take(),
  );
  gauge(registry, {
    name: 'chat_open_streams',
    help: 'Streams that are running now.',
    samples: () => [[{}, openStreams.count]],
  });
  gauge(registry, {
    name: 'chat_client_connections',
    help: 'Open connections of clients.',
    samples: () => [[{}, connections.count]],
  });
  gauge(registry, {
    name: 'chat_stream_slots_in_use',
    help: "Slots of the tiers' concurrent streams that requests of this process hold.",
    samples: () => [[{}, slots.takenInTiers]],
  });
  counter(registry, {
    name: 'chat_shed_total',
    help: 'Requests and connections that were refused or closed to protect other callers, by reason.',
    labels: ['reason'],
    *samples() {
      for (const [reason, count] of shedLoad.counts) yield [{ reason }, count];
    },
  });
  gauge(registry, {
    name: 'chat_draining',
    help: '1 while the process is stopping and refuses new streams.',
    samples: () => [[{}, Number(drainState.isDraining)]],
  });
}
