import { Module } from '@nestjs/common';
import { DatabaseModule } from '../platform/database/database.module.js';
import { RedisModule } from '../platform/redis/redis.module.js';
import { HealthController } from './health.controller.js';
import { PluginReadiness } from './plugin-readiness.js';

/** Serves the health checks for probes. */
@Module({ imports: [DatabaseModule, RedisModule], controllers: [HealthController], providers: [PluginReadiness] })
export class HealthModule {}
