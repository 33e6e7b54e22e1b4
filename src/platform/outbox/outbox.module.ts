import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { WebhookOutbox } from './webhook-outbox.js';

/** Stores events for webhooks. It sends nothing, so the admin command can use it. */
@Module({
  imports: [DatabaseModule],
  providers: [WebhookOutbox],
  exports: [WebhookOutbox],
})
export class OutboxModule {}
