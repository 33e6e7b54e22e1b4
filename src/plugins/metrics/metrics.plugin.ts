import { ChatModule } from '../../chat/chat.module.js';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { HttpModule } from '../../platform/http/http.module.js';
import { RedisModule } from '../../platform/redis/redis.module.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { StreamMetrics } from './families/stream-families.js';
import { MetricsServer } from './metrics-server.js';
import { MetricsSources } from './metrics-sources.js';

/** The metrics of the service and of its plugins, in the format of Prometheus. */
@ChatPlugin({
  name: 'metrics',
  compatibility: '^1',
  imports: [ChatModule, DatabaseModule, HttpModule, RedisModule],
  providers: [MetricsSources, StreamMetrics, MetricsServer],
})
export class MetricsPlugin {}
