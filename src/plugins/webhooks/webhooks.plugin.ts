import { Global } from '@nestjs/common';
import { DatabaseModule } from '../../plugin-api/core/database.js';
import { ChatPlugin } from '../../plugin-api/chat-plugin.decorator.js';
import { WebhookLog } from '../../plugin-api/webhook-log.js';
import { WebhookDeliveries } from './webhook-deliveries.js';
import { WebhookSender } from './webhook-sender.js';
import { OutboxModule } from '../../plugin-api/core/outbox.js';

/** Sends the events of the outbox to the webhooks. */
@Global()
@ChatPlugin({
  name: 'webhooks',
  compatibility: '^1',
  imports: [DatabaseModule, OutboxModule],
  providers: [WebhookDeliveries, WebhookSender, { provide: WebhookLog, useExisting: WebhookSender }],
  exports: [WebhookLog],
})
export class WebhooksPlugin {}
