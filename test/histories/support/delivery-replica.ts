import type { Extensions } from '../../../src/platform/common/extensions/extensions.js';
import type { HourlyJobs } from '../../../src/platform/common/timers/periodic-task.js';
import type { Config } from '../../../src/platform/config/config.js';
import type { WebhookConfig } from '../../../src/platform/config/webhook-of.js';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { OutboxDelivery } from '../../../src/platform/outbox/outbox-delivery.js';
import { OutboxEntries } from '../../../src/platform/outbox/outbox-entries.js';
import { UsageFeeds, type UsageFeed } from '../../../src/usage/usage-feeds.js';
import { WebhookDeliveries } from '../../../src/plugins/webhooks/webhook-deliveries.js';
import { WebhookSender } from '../../../src/plugins/webhooks/webhook-sender.js';
import { WebhookOutbox } from '../../../src/platform/outbox/webhook-outbox.js';
import { START_MS, type SimulatedDatabase } from './simulated-database.js';
import type { VirtualTime } from './virtual-time.js';
import type { SimulatedProcess, SimulatedReplica } from './world.js';

const NO_JOBS = { add: () => undefined } as unknown as HourlyJobs;
export const WEBHOOK = {
  name: 'acme',
  events: ['key.leaked'],
  secret: Buffer.from('secret'),
} as unknown as WebhookConfig;

/** What one simulated replica delivers to a usage feed and to a webhook, with the real objects of the service. */
export class DeliveryReplica implements SimulatedReplica {
  readonly outbox: WebhookOutbox;
  private readonly delivery: OutboxDelivery;
  private readonly feeds: UsageFeeds;
  private readonly sender: WebhookSender;

  /** @param post sends an event to the webhook. Resolves with the reason of a failure. */
  constructor(
    time: VirtualTime,
    readonly owner: SimulatedProcess,
    readonly connection: SimulatedDatabase,
    feed: UsageFeed,
    post: (eventId: string) => Promise<string | undefined>,
  ) {
    const now = (): number => START_MS + time.nowMs;
    const config = { webhooks: new Map([[WEBHOOK.name, WEBHOOK]]) } as unknown as Config;
    const extensions = { of: () => [feed] } as unknown as Extensions;
    const source = connection.asDataSource;
    this.delivery = new OutboxDelivery(new OutboxEntries(source, connection.statements), now);
    this.feeds = new UsageFeeds(this.delivery, extensions);
    this.outbox = new WebhookOutbox(connection.statements, config, now);
    const deliveries = new WebhookDeliveries(source, now);
    this.sender = new WebhookSender(this.outbox, deliveries, new EmbeddedAvailability(), config, now, NO_JOBS);
    // In the place of the request over HTTP.
    Reflect.set(this.sender, 'post', async (_: WebhookConfig, eventId: string) => ({ failure: await post(eventId) }));
  }

  async start(): Promise<void> {
    this.sender.onApplicationBootstrap();
    await this.feeds.onApplicationBootstrap();
  }

  async shutDown(): Promise<void> {
    await Promise.all([this.delivery.beforeApplicationShutdown(), this.sender.beforeApplicationShutdown()]);
  }
}
