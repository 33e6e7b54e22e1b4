import { Injectable } from '@nestjs/common';
import { hostname } from 'node:os';
import { VERSION } from '../../common/version.js';
import type { BreakerState } from '../../upstreams/routing/circuit-breaker.js';
import { MetricsSources } from '../metrics/metrics-sources.js';
import { ServiceCounters } from '../metrics/service-counters.js';

/** A name and how often it was counted since the start. */
export type CountOf = readonly [name: string, count: number];

export interface UpstreamStatus {
  readonly name: string;
  /** The provider's name of the model. `undefined` for the whole upstream. */
  readonly model: string | undefined;
  readonly state: BreakerState;
  /** The time until a request may try. 0: now. */
  readonly waitMs: number;
  /** Whether the provider has asked for the wait. Otherwise attempts have failed. */
  readonly isCooldown: boolean;
}

/** The state of this process, from the same values as `/metrics`. */
export interface StatusSnapshot {
  readonly version: string;
  /** The host and the process id, so that replicas can be told apart. */
  readonly processName: string;
  readonly uptimeSeconds: number;
  readonly isDraining: boolean;
  readonly openStreams: number;
  readonly slotsInUse: number;
  readonly connections: number;
  readonly isDatabaseUp: boolean;
  /** `undefined` if the service has no Redis. */
  readonly isRedisUp: boolean | undefined;
  /** The last known number of replicas. `undefined` without Redis. */
  readonly replicas: number | undefined;
  readonly configHash: string;
  readonly configReloads: { readonly succeeded: number; readonly failed: number };
  readonly upstreams: readonly UpstreamStatus[];
  /** The counts by upstream. */
  readonly attempts: readonly {
    readonly upstream: string;
    readonly attempts: number;
    readonly errors: readonly CountOf[];
  }[];
  /** Requests that a limit refused. The names are those of the metric: `<limit> <tier>`. */
  readonly refusals: readonly CountOf[];
  /** Work that was refused to protect other callers, by reason. */
  readonly shed: readonly CountOf[];
  readonly errors: readonly CountOf[];
}

/** Tells the state of this process. Costs a few reads of counters. */
@Injectable()
export class ServiceStatus {
  constructor(
    private readonly sources: MetricsSources,
    private readonly counters: ServiceCounters,
  ) {}

  snapshot(): StatusSnapshot {
    const { config, reloads, openStreams, slots, connections, drainState, database, redis, limitFallback } =
      this.sources;
    return {
      version: VERSION,
      processName: `${hostname()} (process ${process.pid})`,
      uptimeSeconds: Math.round(process.uptime()),
      isDraining: drainState.isDraining,
      openStreams: openStreams.count,
      slotsInUse: slots.takenInTiers,
      connections: connections.count,
      isDatabaseUp: !database.isUnavailable,
      isRedisUp: redis && !redis.isUnavailable,
      replicas: redis && limitFallback.replicas,
      configHash: config.catalogHash,
      configReloads: { succeeded: reloads.succeeded, failed: reloads.failed },
      upstreams: this.upstreams(),
      attempts: [...this.counters.streams.upstreams].map(([upstream, { attempts, errors }]) => ({
        upstream,
        attempts,
        errors: counted(errors),
      })),
      refusals: counted(this.counters.requests.limits),
      shed: counted(this.sources.shedLoad.counts),
      errors: counted(this.counters.requests.errors),
    };
  }

  /** The upstreams of the configuration, and the routes that were used. */
  private upstreams(): UpstreamStatus[] {
    const { config, routes } = this.sources;
    const unused = new Set(config.upstreams.keys());
    const used = [...routes.all()].map(({ upstream, model, breaker }) => {
      if (model === undefined) unused.delete(upstream);
      const { state, waitMs, isCoolingDown: isCooldown } = breaker;
      return { name: upstream, model, state, waitMs, isCooldown };
    });
    const others = [...unused].map((name) => {
      return { name, model: undefined, state: 'closed', waitMs: 0, isCooldown: false } as const;
    });
    return [...used, ...others].sort((one, other) => key(one).localeCompare(key(other)));
  }
}

const key = ({ name, model = '' }: UpstreamStatus): string => `${name} ${model}`;

function counted(counts: Iterable<CountOf>): CountOf[] {
  return [...counts].filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
}
