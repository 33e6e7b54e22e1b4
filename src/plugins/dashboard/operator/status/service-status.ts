import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { hostname } from 'node:os';
import { DrainState, factsOf, MINUTE_MS, ShedLoad, VERSION } from '../../../../plugin-api/core/common.js';
import { type Config, CONFIG, type ConfigLoad, ConfigReloads } from '../../../../plugin-api/core/config.js';
import { DatabaseAvailability } from '../../../../plugin-api/core/database.js';
import { ClientConnections } from '../../../../plugin-api/core/http.js';
import { REDIS, type RedisConnection } from '../../../../plugin-api/core/redis.js';
import { RequestCounts } from '../../../../plugin-api/core/start.js';
import { OpenStreams } from '../../../../plugin-api/core/chat.js';
import { LimitFallback, StreamSlots } from '../../../../plugin-api/core/throttling.js';
import {
  type BreakerState,
  type LastError,
  type RouteState,
  RouteStates,
} from '../../../../plugin-api/core/upstreams.js';
import { MinuteHistory, type MinuteCounts, type Totals } from './minute-history.js';

const MAX_UPSTREAMS = 300;

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
  /** For how long no request may try, or one at a time. `undefined`: all may try. */
  readonly openForMs?: number | undefined;
  /** Why the last attempt failed. `undefined`: the last attempt succeeded, or another replica knows the reason. */
  readonly failure?: string | undefined;
  /** The time since the last failure. `undefined`: the last attempt succeeded. */
  readonly failedForMs?: number | undefined;
  /** `undefined` for a whole upstream, and for a route that was not used. */
  readonly attempts?: RouteAttempts | undefined;
}

/** The attempts at a route. */
export interface RouteAttempts {
  /** Those that have no text yet. */
  readonly waiting: number;
  /** For how long the oldest of them has waited. */
  readonly longestWaitMs: number;
  /** In the last five minutes. */
  readonly recent: { readonly attempts: number; readonly errors: number };
  /** Since the start. */
  readonly total: number;
  /** Since the start. The names are `<code> <kind>`, as in the metric. */
  readonly errors: readonly CountOf[];
  /** The time since the last attempt began. */
  readonly attemptedAgoMs: number | undefined;
  readonly lastError: LastError | undefined;
}

/** The state of this process, from the same values as `/metrics`. */
export interface StatusSnapshot {
  readonly version: string;
  /** The time of the snapshot, in milliseconds since 1970. */
  readonly at: number;
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
  readonly lastConfigLoad: ConfigLoad;
  /** At most 300. Those that are not available, or fail, come first. */
  readonly upstreams: readonly UpstreamStatus[];
  /** The number of upstreams and routes that `upstreams` leaves out. */
  readonly upstreamsLeftOut: number;
  /** Requests that a limit refused. The names are those of the metric: `<limit> <tier>`. */
  readonly refusals: readonly CountOf[];
  /** Work that was refused to protect other callers, by reason. */
  readonly shed: readonly CountOf[];
  readonly errors: readonly CountOf[];
  /** The last 60 minutes and the present one, the oldest first. */
  readonly minutes: readonly MinuteCounts[];
}

/** Returns the state of this process. Costs a few reads of counters. */
@Injectable()
export class ServiceStatus implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly history: MinuteHistory;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    private readonly reloads: ConfigReloads,
    private readonly drainState: DrainState,
    private readonly shedLoad: ShedLoad,
    private readonly connections: ClientConnections,
    private readonly openStreams: OpenStreams,
    private readonly counts: RequestCounts,
    private readonly routes: RouteStates,
    private readonly slots: StreamSlots,
    private readonly limitFallback: LimitFallback,
    private readonly database: DatabaseAvailability,
    @Inject(REDIS) private readonly redis: RedisConnection | undefined,
  ) {
    this.history = new MinuteHistory(this.totals(), Date.now());
  }

  onApplicationBootstrap(): void {
    this.tickLater();
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  snapshot(): StatusSnapshot {
    const { config, reloads, redis } = this;
    const now = Date.now();
    const upstreams = this.upstreams();
    return {
      version: VERSION,
      at: now,
      processName: `${hostname()} (process ${process.pid})`,
      uptimeSeconds: Math.round(process.uptime()),
      isDraining: this.drainState.isDraining,
      openStreams: this.openStreams.count,
      slotsInUse: this.slots.takenInTiers,
      connections: this.connections.count,
      isDatabaseUp: !this.database.isUnavailable,
      isRedisUp: redis && !redis.isUnavailable,
      replicas: redis && this.limitFallback.replicas,
      configHash: config.catalogHash,
      configReloads: { succeeded: reloads.succeeded, failed: reloads.failed },
      lastConfigLoad: reloads.last,
      upstreams: upstreams.slice(0, MAX_UPSTREAMS),
      upstreamsLeftOut: Math.max(0, upstreams.length - MAX_UPSTREAMS),
      refusals: counted(this.counts.limits),
      shed: counted(this.shedLoad.counts),
      errors: counted(this.counts.errors),
      minutes: this.history.minutes(this.totals(), now),
    };
  }

  private totals(): Totals {
    const { requests, errors, limits } = this.counts;
    return {
      requests: sumOf(requests),
      errors: sumOf([...errors].filter(([code]) => factsOf(code).fault !== 'caller')),
      refused: sumOf(limits) + sumOf(this.shedLoad.counts),
      openStreams: this.openStreams.count,
    };
  }

  /** At the beginning of each minute. */
  private tickLater(): void {
    this.timer = setTimeout(
      () => {
        this.history.tick(this.totals(), Date.now());
        this.tickLater();
      },
      MINUTE_MS - (Date.now() % MINUTE_MS) + 1,
    ).unref();
  }

  /** The upstreams and the routes of the configuration, and those that were used. Those with trouble come first. */
  private upstreams(): readonly UpstreamStatus[] {
    const { config, routes } = this;
    const found = new Map<string, UpstreamStatus>();
    const available = (name: string, model?: string): void => {
      const status = { name, model, state: 'closed', waitMs: 0, isCooldown: false } as const;
      found.set(key(status), status);
    };
    for (const name of config.upstreams.keys()) available(name);
    for (const route of config.models.flatMap((model) => model.routes)) available(route.upstream.name, route.model);
    for (const { upstream: name, model, breaker } of routes.all()) {
      const { state, waitMs, isCoolingDown: isCooldown, openForMs, failure, failedForMs } = breaker;
      const status = { name, model, state, waitMs, isCooldown, openForMs, failure, failedForMs };
      found.set(key(status), status);
    }
    for (const { upstream: name, model, state } of routes.used()) {
      const status = found.get(key({ name, model }));
      if (status !== undefined) found.set(key(status), { ...status, attempts: attemptsOf(state) });
    }
    const isAvailable = (status: UpstreamStatus) => Number(!hasTrouble(status) && !isLate(status));
    return [...found.values()].sort(
      (one, other) => isAvailable(one) - isAvailable(other) || key(one).localeCompare(key(other)),
    );
  }
}

/** A first text is late after this time, although most providers get longer until the attempt fails. */
const LATE_MS = 5_000;

/** Whether attempts at the route wait so long for their first text that the provider may hang. */
export function isLate({ attempts }: UpstreamStatus): boolean {
  return attempts !== undefined && attempts.longestWaitMs >= LATE_MS;
}

/** Whether requests cannot use the upstream or the route now, or the last attempt failed. */
export function hasTrouble({ state, failure }: UpstreamStatus): boolean {
  return state !== 'closed' || failure !== undefined;
}

const key = ({ name, model = '' }: Pick<UpstreamStatus, 'name' | 'model'>): string => `${name} ${model}`;

function attemptsOf({ waitingCount, longestWaitMs, counts }: RouteState): RouteAttempts {
  const { recent, attempts: total, errors, attemptedAgoMs, lastError } = counts;
  return { waiting: waitingCount, longestWaitMs, recent, total, errors: counted(errors), attemptedAgoMs, lastError };
}

function counted(counts: Iterable<CountOf>): CountOf[] {
  return [...counts].filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
}

function sumOf(counts: Iterable<CountOf>): number {
  let sum = 0;
  for (const [, count] of counts) sum += count;
  return sum;
}
