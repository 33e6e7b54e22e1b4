import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module.js';
import { WebhookDeliveries } from './delivery/webhook-deliveries.js';
import { WebhookSender } from './delivery/webhook-sender.js';
import { OutboxModule } from './outbox/outbox.module.js';

/** Sends the events of the outbox to the webhooks. */
@Module({
  imports: [DatabaseModule, OutboxModule],
  providers: [WebhookDeliveries, WebhookSender],
  exports: [OutboxModule, WebhookDeliveries, WebhookSender],
})
export class WebhooksModule {}
