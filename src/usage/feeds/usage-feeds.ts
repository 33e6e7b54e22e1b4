import {
  Inject,
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { CLOCK, DAY_MS, type Clock } from '../../platform/common/clock.js';
import { Extensions } from '../../platform/common/extensions/extensions.js';
import { PeriodicTask } from '../../platform/common/timers/periodic-task.js';
import { ConfigError } from '../../platform/config/config-error.js';
import { FeedEntries } from './feed-entries.js';
import { USAGE_FEEDS, type UsageFeed } from './usage-feed.js';

const EVERY_MS = 1_000;
const MAX_WAIT_MS = 60_000;
const DELIVERY_MS = 30_000;
/** Longer than a delivery, so that no other process delivers the same records meanwhile. */
const OWNED_MS = 60_000;
const UNSEEN_DAYS = 30;
const NAME = /^[a-z][a-z0-9-]*$/;

interface Delivery {
  readonly feed: UsageFeed;
  readonly task: PeriodicTask;
  failures: number;
}

/** Delivers the records of the ledger to the feeds of plugins, until each delivery has succeeded. */
@Injectable()
export class UsageFeeds implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(UsageFeeds.name);
  private readonly owner = randomUUID();
  private readonly stop = new AbortController();
  private deliveries: readonly Delivery[] = [];

  constructor(
    private readonly entries: FeedEntries,
    private readonly extensions: Extensions,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @throws {ConfigError} when the name of a feed is invalid or repeated. */
  async onApplicationBootstrap(): Promise<void> {
    const feeds = this.extensions.of(USAGE_FEEDS);
    const names = feeds.map(({ name }) => name);
    const wrong = names.filter((name, index) => !NAME.test(name) || names.indexOf(name) !== index);
    if (wrong.length > 0)
      throw new ConfigError(wrong.map((name) => `The usage feed "${name}" of a plugin needs another name.`));
    this.deliveries = feeds.map((feed) => {
      const delivery: Delivery = { feed, task: new PeriodicTask(() => this.run(delivery)), failures: 0 };
      return delivery;
    });
    for (const name of names) await this.entries.register(name, this.now());
    await this.entries.removeUnseen(this.now() - UNSEEN_DAYS * DAY_MS);
    for (const { task } of this.deliveries) task.start(EVERY_MS);
  }

  /** Ends the deliveries. What was not delivered is delivered by another process, or after the next start. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort(new Error('The process stops.'));
    await Promise.all(this.deliveries.map(({ task }) => task.stop()));
    for (const { feed } of this.deliveries) await this.entries.release(feed.name, this.owner).catch(() => undefined);
  }

  private async run(delivery: Delivery): Promise<number> {
    const { feed, failures } = delivery;
    try {
      while (await this.deliver(feed));
      if (failures > 0) this.logger.log(`The usage feed ${feed.name} delivers again`);
      delivery.failures = 0;
      return EVERY_MS;
    } catch (error) {
      if (failures === 0 && !this.stop.signal.aborted) {
        this.logger.warn({ msg: `The usage feed ${feed.name} fails, and is tried again`, reason: String(error) });
      }
      delivery.failures += 1;
      return Math.min(MAX_WAIT_MS, EVERY_MS * 2 ** failures);
    }
  }

  /** Delivers some records. Returns whether there may be more. */
  private async deliver(feed: UsageFeed): Promise<boolean> {
    const { name } = feed;
    if (!(await this.entries.own(name, this.owner, this.now(), this.now() + OWNED_MS))) return false;
    const entries = await this.entries.next(name);
    if (entries.length === 0) return false;
    const rows = entries.flatMap(({ row }) => row ?? []);
    const signal = AbortSignal.any([this.stop.signal, AbortSignal.timeout(DELIVERY_MS)]);
    if (rows.length > 0) await inTime(() => feed.deliver(rows, signal), signal);
    await this.entries.remove(name, entries);
    return !this.stop.signal.aborted;
  }
}

/** Rejects when the signal aborts, because a plugin may not heed it. Begins nothing after the process has begun to stop. */
async function inTime(deliver: () => Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', onAbort);
  });
  try {
    await Promise.race([deliver(), aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort);
  }
}
