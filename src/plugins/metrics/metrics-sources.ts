import { Inject, Injectable, Optional } from '@nestjs/common';
import { DurableStreams } from '../../chat/durable/durable-streams.js';
import { StreamMemory } from '../../chat/durable/log/stream-memory.js';
import { InterChunkLatencies } from '../../chat/stream/inter-chunk-latencies.js';
import { OpenStreams } from '../../chat/stream/open-streams.js';
import { DrainState } from '../../platform/common/drain-state.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { ConfigReloads } from '../../platform/config/config-reloads.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { ClientConnections } from '../../platform/http/connections/client-connections.js';
import { REDIS } from '../../platform/redis/redis.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { LimitFallback } from '../../throttling/limit-fallback.js';
import { StreamSlots } from '../../throttling/process-load/stream-slots.js';
import { RouteStates } from '../../upstreams/routing/route-states.js';
import { UsageLedger } from '../../usage/ledger/usage-ledger.js';
import { WebhookLog } from '../../plugin-api/webhook-log.js';
import { RequestCounts } from '../../platform/start/request-counts.js';

/** The objects that provide the values of a scrape. */
@Injectable()
export class MetricsSources {
  constructor(
    @Inject(CONFIG) readonly config: Config,
    readonly reloads: ConfigReloads,
    readonly drainState: DrainState,
    readonly shedLoad: ShedLoad,
    readonly connections: ClientConnections,
    readonly openStreams: OpenStreams,
    readonly latencies: InterChunkLatencies,
    readonly durable: DurableStreams,
    readonly streamMemory: StreamMemory,
    readonly ledger: UsageLedger,
    readonly routes: RouteStates,
    readonly slots: StreamSlots,
    readonly limitFallback: LimitFallback,
    readonly requests: RequestCounts,
    @Optional() readonly webhooks: WebhookLog | undefined,
    readonly database: DatabaseAvailability,
    @Inject(REDIS) readonly redis: RedisConnection | undefined,
  ) {}
}
