import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { CLOCK, DAY_MS, type Clock } from '../common/clock.js';
import { timeoutSignal } from '../common/timers/pace.js';
import { PeriodicTask } from '../common/timers/periodic-task.js';
import { ConfigError } from '../config/config-error.js';
import { OutboxEntries, type DeliveredTable } from './outbox-entries.js';

/** Gets the rows of a table, each at least once. */
export interface Subscriber<Row> {
  /** Names what was delivered, also after a restart. */
  readonly name: string;
  /** @param signal aborts after 30 s, and when the process stops. */
  deliver(rows: readonly Row[], signal: AbortSignal): Promise<void>;
}

interface Delivery<Row> {
  readonly table: DeliveredTable<Row>;
  readonly subscriber: Subscriber<Row>;
  /** Whether the rows of before have their entries. */
  hasHistory: boolean;
  failures: number;
  /** Why the last delivery has failed. */
  reason: string;
}

const EVERY_MS = 1_000;
const MAX_WAIT_MS = 60_000;
const DELIVERY_MS = 30_000;
/** Longer than a delivery, so that no other process delivers the same rows meanwhile. */
const OWNED_MS = 60_000;
const UNSEEN_DAYS = 30;

/** Delivers the rows of tables to the subscribers of plugins, until each delivery has succeeded. One replica at a time delivers to a subscriber. */
@Injectable()
export class OutboxDelivery implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Outbox');
  private readonly owner = randomUUID();
  private readonly stop = new AbortController();
  private readonly tasks: PeriodicTask[] = [];
  private readonly releases: (() => Promise<void>)[] = [];

  constructor(
    private readonly entries: OutboxEntries,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Begins to deliver.
   *
   * @throws {ConfigError} when the name of a subscriber is invalid or repeated.
   */
  async begin<Row>(table: DeliveredTable<Row>, subscribers: readonly Subscriber<Row>[]): Promise<void> {
    const names = subscribers.map(({ name }) => name);
    checkNames(table.subscribers, names);
    for (const name of names) await this.entries.register(table, name, this.now());
    await this.entries.removeUnseen(this.now() - UNSEEN_DAYS * DAY_MS);
    for (const subscriber of subscribers) {
      const delivery = { table, subscriber, hasHistory: !table.isFromBeginning, failures: 0, reason: '' };
      const task = new PeriodicTask(() => this.run(delivery));
      this.tasks.push(task);
      this.releases.push(() => this.entries.release(table, subscriber.name, this.owner));
      task.start(EVERY_MS);
    }
  }

  /** Ends the deliveries. What was not delivered is delivered by another process, or after the next start. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stop.abort(new Error('The process stops.'));
    await Promise.all(this.tasks.map((task) => task.stop()));
    await Promise.all(this.releases.map((release) => release().catch(() => undefined)));
  }

  private async run<Row>(delivery: Delivery<Row>): Promise<number> {
    const { table, subscriber, failures } = delivery;
    const { kind } = table.subscribers;
    try {
      while (await this.deliver(delivery));
      if (failures > 0) this.logger.log(`The ${kind} ${subscriber.name} delivers again`);
      delivery.failures = 0;
      delivery.reason = '';
      return EVERY_MS;
    } catch (error) {
      const reason = String(error);
      const isNew = reason !== delivery.reason;
      delivery.failures += 1;
      delivery.reason = reason;
      if (isNew && !this.stop.signal.aborted) {
        const msg = `The ${kind} ${subscriber.name} fails, and is tried again`;
        this.logger.warn({ msg, reason, failures: delivery.failures });
      }
      return Math.min(MAX_WAIT_MS, EVERY_MS * 2 ** failures);
    }
  }

  /** Delivers some rows. Returns whether there may be more. */
  private async deliver<Row>(delivery: Delivery<Row>): Promise<boolean> {
    const { table, subscriber } = delivery;
    const { name } = subscriber;
    if (!(await this.entries.own(table, name, this.owner, this.now(), this.now() + OWNED_MS))) return false;
    // More at once than are delivered, so that later rows wait for all of them.
    if (!delivery.hasHistory) delivery.hasHistory = await this.entries.addHistory(table, name);
    const entries = await this.entries.next(table, name);
    if (entries.length === 0) return false;
    const rows = await table.rowsOf(entries.flatMap(({ row }) => (row === undefined ? [] : [row])));
    const signal = AbortSignal.any([this.stop.signal, timeoutSignal(DELIVERY_MS)]);
    if (rows.length > 0) await inTime(() => subscriber.deliver(rows, signal), signal);
    await this.entries.remove(table, name, entries);
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

function checkNames(rules: DeliveredTable<unknown>['subscribers'], names: readonly string[]): void {
  const { kind, rule } = rules;
  const problems = names.flatMap((name, index) => {
    if (!rules.names.test(name)) return `The name of the ${kind} "${name}" must be ${rule}.`;
    return names.indexOf(name) === index ? [] : `Each ${kind} needs a name of its own, but two have "${name}".`;
  });
  if (problems.length > 0) throw new ConfigError(problems);
}
