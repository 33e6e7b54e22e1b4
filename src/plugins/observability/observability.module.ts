import { Module } from '@nestjs/common';
import { ChatModule } from '../../chat/chat.module.js';
import { CONFIG, type Config, type LogLevel } from '../../platform/config/config.js';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { HttpModule } from '../../platform/http/http.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { UsageReportsModule } from '../../usage/reports/usage-reports.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { RequestLog } from './requests/request-log.js';
import { MetricsServer } from './metrics/metrics-server.js';
import { MetricsSources } from './metrics/metrics-sources.js';
import { RefusalRecorder } from './refusals/refusal-recorder.js';
import { RefusedRequests } from './refusals/refused-requests.js';
import { RequestWatch } from './requests/request-watch.js';
import { RequestSearch } from './search/request-search.js';
import { ServiceCounters } from './metrics/service-counters.js';
import { ReplicaStatuses } from './status/replica-statuses.js';
import { ServiceStatus } from './status/service-status.js';
import { Tracing } from './tracing/tracing.js';

const LEVELS_WITH_REQUESTS: readonly LogLevel[] = ['info', 'debug', 'trace'];

/** Provides the tools for operators: a log line for each request, metrics, and traces. */
@Module({
  imports: [ChatModule, DatabaseModule, HttpModule, RedisModule, UsageReportsModule, WebhooksModule],
  providers: [
    MetricsSources,
    MetricsServer,
    ServiceCounters,
    ServiceStatus,
    ReplicaStatuses,
    RefusedRequests,
    RefusalRecorder,
    RequestSearch,
    Tracing,
    {
      provide: RequestWatch,
      inject: [CONFIG],
      useFactory: ({ logLevel }: Config) => {
        const watch = new RequestWatch();
        if (LEVELS_WITH_REQUESTS.includes(logLevel)) watch.observe(new RequestLog(logLevel !== 'info'));
        return watch;
      },
    },
  ],
  exports: [ReplicaStatuses, RequestSearch, RefusedRequests],
})
export class ObservabilityModule {}
