import type { WebhookConfig, WebhookEventType } from '../platform/config/webhook-of.js';
import type { TimePage, TimePosition } from '../platform/database/queries/page-by-time.js';

/** An event for one webhook, as operators see it. Times are texts in ISO 8601. */
export interface ListedDelivery {
  readonly id: string;
  readonly event_id: string;
  readonly webhook: string;
  readonly type: WebhookEventType;
  readonly account_id: string;
  readonly created_at: string;
  readonly attempts: number;
  /** `null`: the event is delivered, or the service has given up. */
  readonly next_attempt_at: string | null;
  readonly last_attempt_at: string | null;
  readonly last_error: string | null;
  readonly delivered_at: string | null;
}

/** The answer of a receiver to a test event. */
export interface TestResult {
  readonly eventId: string;
  readonly durationMs: number;
  /** `undefined`: there was no answer. */
  readonly status: number | undefined;
  /** Why the attempt has failed. `undefined`: the receiver has accepted the event. */
  readonly failure: string | undefined;
}

/** What the plugin of the webhooks offers to other plugins, such as the pages of operators. Inject it as optional. */
export abstract class WebhookLog {
  /** The attempts of this process since its start: delivered, to be repeated (`retried`), or given up (`failed`). */
  abstract readonly results: Iterable<readonly [result: string, count: number]>;

  /** Lists one page of the events, the latest first. */
  abstract list(after: TimePosition | undefined, limit: number): Promise<TimePage<ListedDelivery>>;

  /** Sends an event again, as if it were new. Returns whether the event exists. */
  abstract sendAgain(id: string): Promise<boolean>;

  /** Sends a test event now, once. The event is not stored. */
  abstract sendTest(webhook: WebhookConfig): Promise<TestResult>;
}
