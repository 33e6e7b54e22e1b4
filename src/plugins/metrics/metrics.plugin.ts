import { ChatModule } from '../../plugin-api/core/chat.js';
import { DatabaseModule } from '../../plugin-api/core/database.js';
import { HttpModule } from '../../plugin-api/core/http.js';
import { RedisModule } from '../../plugin-api/core/redis.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { MetricsAddress } from '../../plugin-api/metrics.js';
import { StreamMetrics } from './families/stream-families.js';
import { MetricsServer } from './metrics-server.js';
import { MetricsSources } from './metrics-sources.js';

/** The metrics of the service and of its plugins, in the format of Prometheus. */
@ChatPlugin({
  name: 'metrics',
  compatibility: '^1',
  imports: [ChatModule, DatabaseModule, HttpModule, RedisModule],
  providers: [MetricsSources, StreamMetrics, MetricsServer, { provide: MetricsAddress, useExisting: MetricsServer }],
})
export class MetricsPlugin {}
