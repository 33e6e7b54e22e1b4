import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { type Clock, CLOCK, cutText, HourlyJobs, LabeledCounter, startInterval } from '../../plugin-api/core/common.js';
import { type Config, CONFIG, type WebhookConfig } from '../../plugin-api/core/config.js';
import { DatabaseAvailability, type TimePage, type TimePosition } from '../../plugin-api/core/database.js';
import { NO_ACCOUNT, WebhookOutbox } from '../../plugin-api/core/outbox.js';
import { WebhookLog, type ListedDelivery, type TestResult } from '../../plugin-api/webhook-log.js';
import { WebhookDeliveries, type ClaimedDelivery } from './webhook-deliveries.js';
import { postTo, signedHeaders } from './webhook-request.js';

/** How often a process polls for events of other processes, and for retries. */
const POLL_EVERY_MS = 2_000;
/** For each webhook, so that a slow receiver blocks no other one. */
const MAX_AT_ONCE = 4;
const MAX_REASON_LENGTH = 200;

/** The type of the event that an operator sends to try a webhook. */
const TEST_EVENT = 'webhook.test';

/** What the receiver answered, if it did. */
type ReceiverAnswer = Pick<TestResult, 'status' | 'failure'>;

/** The results of attempts: delivered, to be repeated, or given up. */
type DeliveryResult = 'delivered' | 'retried' | 'failed';

/**
 * Sends the events of the outbox to their webhooks, at least once. A process takes a delivery for 30 seconds, so replicas do not
 * send the same event at the same time.
 */
@Injectable()
export class WebhookSender extends WebhookLog implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('Webhooks');
  /** The attempts of this process since its start. */
  readonly results = new LabeledCounter<DeliveryResult>(['delivered', 'retried', 'failed']);
  private readonly running = new Map<string, Set<Promise<void>>>();
  private readonly polls = new Map<string, Promise<void>>();
  private timer: NodeJS.Timeout | undefined;
  private isStopping = false;

  constructor(
    private readonly outbox: WebhookOutbox,
    private readonly deliveries: WebhookDeliveries,
    private readonly availability: DatabaseAvailability,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    super();
    jobs.add('Deletes old webhook deliveries', () => this.deliveries.deleteOld());
  }

  onApplicationBootstrap(): void {
    const poll = (): void => {
      this.poll();
    };
    this.outbox.listen(poll);
    this.timer = startInterval(poll, POLL_EVERY_MS);
  }

  /** Waits for the attempts that run, which have a time limit. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    clearInterval(this.timer);
    await Promise.all(this.polls.values());
    await Promise.all([...this.running.values()].flatMap((attempts) => [...attempts]));
  }

  /** Sends what is due. */
  private poll(): void {
    if (this.availability.isUnavailable) return;
    for (const webhook of this.config.webhooks.values()) this.pollFor(webhook);
  }

  private pollFor(webhook: WebhookConfig): void {
    const { name } = webhook;
    if (this.isStopping || this.polls.has(name)) return;
    const running = this.take(webhook)
      .catch((error: unknown) => {
        this.logger.warn({ msg: 'Webhook deliveries cannot be read', webhook: name, reason: String(error) });
      })
      .finally(() => this.polls.delete(name));
    this.polls.set(name, running);
  }

  private async take(webhook: WebhookConfig): Promise<void> {
    const attempts = this.running.get(webhook.name) ?? new Set();
    this.running.set(webhook.name, attempts);
    const room = MAX_AT_ONCE - attempts.size;
    if (room === 0) return;
    for (const delivery of await this.deliveries.claim(webhook.name, room)) {
      const attempt = this.send(webhook, delivery).finally(() => {
        attempts.delete(attempt);
        const current = this.config.webhooks.get(webhook.name);
        if (current !== undefined) this.pollFor(current);
      });
      attempts.add(attempt);
    }
  }

  /** Makes one attempt, and stores its result. Never throws: without a stored result, the delivery is due again after 30 seconds. */
  private async send(webhook: WebhookConfig, delivery: ClaimedDelivery): Promise<void> {
    try {
      const { failure } = await this.post(webhook, delivery.event_id, bodyOf(delivery));
      if (failure === undefined) {
        await this.deliveries.delivered(delivery.id);
        this.results.add('delivered');
        return;
      }
      const wait = retryDelayMs(delivery.attempts, Math.random());
      const isOver = this.now() + wait > Date.parse(delivery.give_up_at);
      await this.deliveries.failed(delivery.id, failure, isOver ? undefined : wait);
      this.results.add(isOver ? 'failed' : 'retried');
      const { event_id: eventId, type, attempts } = delivery;
      this.logger.warn({
        msg: isOver ? 'A webhook event was given up' : 'A webhook event will be sent again',
        ...{ webhook: webhook.name, eventId, type, attempts, reason: failure },
      });
    } catch (error) {
      this.logger.warn({ msg: 'The result of a webhook delivery was not stored', reason: String(error) });
    }
  }

  list(after: TimePosition | undefined, limit: number): Promise<TimePage<ListedDelivery>> {
    return this.deliveries.list(after, limit);
  }

  async sendAgain(id: string): Promise<boolean> {
    const exists = await this.deliveries.sendAgain(id);
    if (exists) this.outbox.notify();
    return exists;
  }

  async sendTest(webhook: WebhookConfig): Promise<TestResult> {
    const eventId = `evt_${randomUUID()}`;
    const timestamp = new Date(this.now()).toISOString();
    const body = JSON.stringify({ type: TEST_EVENT, timestamp, data: { account: null, key: null } });
    const begin = performance.now();
    const answer = await this.post(webhook, eventId, body);
    return { ...answer, eventId, durationMs: performance.now() - begin };
  }

  private async post(webhook: WebhookConfig, eventId: string, body: string): Promise<ReceiverAnswer> {
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'chat-streaming-service',
      ...signedHeaders(webhook.secret, eventId, this.now(), body),
    };
    try {
      const status = await postTo(webhook, headers, body);
      return { status, failure: status >= 200 && status < 300 ? undefined : `The receiver answered ${status}.` };
    } catch (error) {
      return { status: undefined, failure: cutText(reasonOf(error), MAX_REASON_LENGTH) };
    }
  }
}

function bodyOf(delivery: ClaimedDelivery): string {
  const { type, created_at: timestamp, account_id: accountId, email, key_id: keyId } = delivery;
  const { key_name: name, key_prefix: prefix } = delivery;
  const key = keyId === null ? null : { id: keyId, name, prefix };
  const account = accountId === NO_ACCOUNT ? null : { id: accountId, email };
  const data = { account, key, ...(JSON.parse(delivery.data) as object) };
  return JSON.stringify({ type, timestamp, data });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'The receiver did not answer in time.';
  const { code } = error as NodeJS.ErrnoException;
  return code === undefined || error.message.includes(code) ? error.message : `${code}: ${error.message}`;
}

const FIRST_MS = 10_000;
const FACTOR = 3;
const MAX_MS = 6 * 3_600_000;
/** Spreads the attempts of many events. */
const JITTER = 0.2;

/**
 * Returns the time to the next attempt, in milliseconds: from 10 seconds to 6 hours.
 *
 * @param attempts the number of failed attempts.
 * @param random from 0 to 1.
 */
function retryDelayMs(attempts: number, random: number): number {
  const delay = Math.min(MAX_MS, FIRST_MS * FACTOR ** (attempts - 1));
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
