/** The events that the service sends to webhooks. */
export const WEBHOOK_EVENTS = ['budget.warning', 'budget.exceeded', 'key.expiring', 'key.leaked'] as const;

export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number];
