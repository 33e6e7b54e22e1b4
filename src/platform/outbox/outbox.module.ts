import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { OutboxDelivery } from './outbox-delivery.js';
import { OutboxEntries } from './outbox-entries.js';
import { WebhookOutbox } from './webhook-outbox.js';

/**
 * Stores what the service delivers to others: events for webhooks, and rows of tables for the subscribers of plugins. It sends nothing
 * until it is told to begin, so the admin command can use it.
 */
@Module({
  imports: [DatabaseModule],
  providers: [WebhookOutbox, OutboxEntries, OutboxDelivery],
  exports: [WebhookOutbox, OutboxDelivery],
})
export class OutboxModule {}
