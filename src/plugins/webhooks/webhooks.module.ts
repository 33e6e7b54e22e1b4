import { Module } from '@nestjs/common';
import { DatabaseModule } from '../../platform/database/database.module.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookSender } from './webhook-sender.js';
import { OutboxModule } from '../../platform/outbox/outbox.module.js';

/** Sends the events of the outbox to the webhooks. */
@Module({
  imports: [DatabaseModule, OutboxModule],
  providers: [WebhookDeliveries, WebhookSender],
  exports: [OutboxModule, WebhookDeliveries, WebhookSender],
})
export class WebhooksModule {}
