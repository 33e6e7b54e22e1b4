import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { HealthController } from './health.controller.js';

/** What probes ask. */
@Module({ imports: [DatabaseModule], controllers: [HealthController] })
export class HealthModule {}
