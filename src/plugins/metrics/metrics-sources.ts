import { Inject, Injectable, Optional } from '@nestjs/common';
import { InterChunkLatencies, OpenStreams } from '../../plugin-api/core/chat.js';
import { DrainState, ShedLoad } from '../../plugin-api/core/common.js';
import { type Config, CONFIG, ConfigReloads } from '../../plugin-api/core/config.js';
import { DatabaseAvailability } from '../../plugin-api/core/database.js';
import { ClientConnections } from '../../plugin-api/core/http.js';
import { REDIS, type RedisConnection } from '../../plugin-api/core/redis.js';
import { LimitFallback, StreamSlots } from '../../plugin-api/core/throttling.js';
import { RouteStates } from '../../plugin-api/core/upstreams.js';
import { UsageLedger } from '../../plugin-api/core/usage.js';
import { DurableStreamCounts } from '../../plugin-api/durable-stream-counts.js';
import { WebhookLog } from '../../plugin-api/webhook-log.js';
import { RequestCounts } from '../../plugin-api/core/start.js';

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
    readonly ledger: UsageLedger,
    readonly routes: RouteStates,
    readonly slots: StreamSlots,
    readonly limitFallback: LimitFallback,
    readonly requests: RequestCounts,
    @Optional() @Inject(DurableStreamCounts) readonly durable: DurableStreamCounts | undefined,
    @Optional() @Inject(WebhookLog) readonly webhooks: WebhookLog | undefined,
    readonly database: DatabaseAvailability,
    @Inject(REDIS) readonly redis: RedisConnection | undefined,
  ) {}
}
