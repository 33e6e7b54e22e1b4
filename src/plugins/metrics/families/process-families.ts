import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { collectDefaultMetrics, type Registry } from 'prom-client';
import { VERSION } from '../../../plugin-api/core/common.js';
import type { RequestCounts } from '../../../plugin-api/core/start.js';
import type { MetricsSources } from '../metrics-sources.js';
import { counter, gauge, SummaryFamily, type SummaryValues } from './metric-types.js';

const RESOLUTION_MS = 10;
const NS_PER_SECOND = 1e9;
const QUANTILES = [0.5, 0.99] as const;

/** Measures the delay of timers. All other work of the process has the same delay. */
export class EventLoopDelay {
  private readonly histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });

  private sum = 0;
  private count = 0;

  constructor() {
    this.histogram.enable();
  }

  /** Returns the delays since the last call in seconds, by quantile, and the sum and the number of all delays. */
  take(): SummaryValues {
    const { histogram } = this;
    const quantiles = [
      ...QUANTILES.map((quantile) => [quantile, delayOf(histogram.percentile(quantile * 100))] as const),
      [1, delayOf(histogram.max)] as const,
    ];
    if (histogram.count > 0) this.sum += delayOf(histogram.mean) * histogram.count;
    this.count += histogram.count;
    histogram.reset();
    return { quantiles, sum: this.sum, count: this.count };
  }

  stop(): void {
    this.histogram.disable();
  }
}

/** Subtracts {@link RESOLUTION_MS}, because the histogram measures the whole time between two timers of this distance. */
function delayOf(nanoseconds: number): number {
  return Math.max(0, nanoseconds / NS_PER_SECOND - RESOLUTION_MS / 1000);
}

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

export function registerRequests(registry: Registry, counts: RequestCounts): void {
  counter(registry, {
    name: 'chat_http_requests_total',
    help: 'Finished requests. The route is the pattern of the route, or none. The status is none if the client left before an answer.',
    labels: ['method', 'route', 'status'],
    *samples() {
      for (const [name, count] of counts.requests) {
        const [method = '', status = '', route = ''] = name.split(' ');
        yield [{ method, route, status }, count];
      }
    },
  });
  counter(registry, {
    name: 'chat_http_response_bytes_total',
    help: 'Bytes of answers, including headers, counted when the request is finished.',
    samples: () => [[{}, counts.bytes]],
  });
  counter(registry, {
    name: 'chat_errors_total',
    help: 'Errors sent to clients, instead of an answer or at the end of an incomplete answer.',
    labels: ['code'],
    *samples() {
      for (const [code, count] of counts.errors) yield [{ code }, count];
    },
  });
  counter(registry, {
    name: 'chat_limit_rejections_total',
    help: 'Requests refused by a limit of the tier, by a budget of reports or pages, or by a sign-in limit.',
    labels: ['limit', 'tier'],
    *samples() {
      for (const [name, count] of counts.limits) {
        const [limit = '', tier = ''] = name.split(' ');
        yield [{ limit, tier }, count];
      }
    },
  });
}
