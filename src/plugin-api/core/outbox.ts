// What plugins use of platform/outbox.
export { OutboxModule } from '../../platform/outbox/outbox.module.js';
export { giveUpAt, NO_ACCOUNT, WebhookOutbox } from '../../platform/outbox/webhook-outbox.js';
