import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { interruptedRecord, testStartedStream, testUsageRecord } from '../../support/usage-records.js';
import type { LedgerRow } from '../../../src/usage/store/record-columns.js';
import { UsageStore } from '../../../src/usage/store/usage-store.js';
import { eventIdOf, NO_ACCOUNT, type WebhookEvent } from '../../../src/platform/outbox/webhook-outbox.js';
import { hold, Violation } from '../../support/invariants.js';
import type { SeededRandom } from '../../support/seeded-random.js';
import { DeliveryReplica } from './delivery-replica.js';
import { Link } from './link.js';
import { SimulatedDatabase, type SharedDatabase } from './simulated-database.js';
import type { VirtualTime } from './virtual-time.js';
import { SimulatedProcess, World } from './world.js';

/** `deaf`: the receiver takes what is sent, and its reply is lost. `silent`: it neither takes it nor replies. */
export type ReceiverState = 'up' | 'refuses' | 'deaf' | 'silent';

const STARTED_WITHIN_MS = 5_000;
/** As the request of a webhook. */
const REQUEST_MS = 10_000;
/** The longest wait between two attempts after a few failures, and the lease of a killed replica. */
const DELIVERED_WITHIN_MS = 3_600_000;
/** A replica that was stopped can be late, and another one delivers again. */
const LATE_MS = 60_000;

/** Several replicas that deliver records to one usage feed, and events to one webhook. */
export class DeliveryWorld extends World<DeliveryReplica> {
  receiver: ReceiverState = 'up';
  private readonly store: UsageStore;
  private records = 0;
  /** The outcome of each record that the feed has taken, and the events that the webhook has taken. */
  private readonly taken = new Map<string, string>();
  private readonly published = new Set<string>();
  /** What is delivered at this moment. */
  private readonly delivering = new Map<string, DeliveryReplica>();
  private readonly violations: Violation[] = [];

  constructor(
    time: VirtualTime,
    private readonly shared: SharedDatabase,
    private readonly random: SeededRandom,
  ) {
    super(time);
    this.store = new UsageStore(shared.source, new EmbeddedAvailability());
  }

  async start(count: number): Promise<void> {
    for (let number = 0; number < count; number++) {
      const owner = new SimulatedProcess();
      const link = new Link(this.time, owner, this.random);
      const database = new SimulatedDatabase(this.time, link, this.shared, () => {
        this.checkRemoved();
      });
      const replica: DeliveryReplica = new DeliveryReplica(
        ...([this.time, owner, database] as const),
        { name: 'billing', deliver: (rows, signal) => this.deliver(replica, rows, signal) },
        (eventId) => this.post(replica, eventId),
      );
      this.replicas.push(replica);
      await this.time.as(owner, () => void replica.start());
    }
    await this.time.pass(STARTED_WITHIN_MS);
  }

  /** The ledger stores records, as those of killed replicas. */
  async record(count: number): Promise<void> {
    const ids = Array.from({ length: count }, () => this.idOf(this.records++));
    await this.store.append(ids.map((id) => interruptedRecord(testStartedStream({ id }))));
  }

  /** The replica that counted as dead lives, and its own record replaces the other one. */
  async correct(index: number): Promise<void> {
    if (this.records === 0) return;
    await this.store.append([testUsageRecord({ id: this.idOf(index % this.records) })]);
  }

  async publish(number: number, subject: string): Promise<void> {
    const replica = this.running(number);
    if (replica === undefined) return;
    const event: WebhookEvent = { type: 'key.leaked', subject: [subject], accountId: NO_ACCOUNT, data: {} };
    await this.time.as(replica.owner, () => {
      replica.outbox.publish(event).then(
        () => this.published.add(eventIdOf(event)),
        () => undefined,
      );
    });
  }

  async check(): Promise<void> {
    this.receiver = 'up';
    const left = (): { entries: number; events: number } => ({
      entries: this.shared.rows('SELECT 1 FROM outbox_entries').length,
      events: this.shared.rows('SELECT 1 FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL').length,
    });
    const isDelivered = (): boolean => Object.values(left()).every((count) => count === 0);
    await this.time.pass(DELIVERED_WITHIN_MS, () => isDelivered() || this.violations.length > 0);
    const [violation] = this.violations;
    if (violation !== undefined) throw violation;
    hold('delivered at least once', isDelivered(), () => JSON.stringify(left()));
    const known = new Set(
      this.shared.rows<{ event_id: string }>('SELECT event_id FROM webhook_deliveries').map(({ event_id }) => event_id),
    );
    for (const id of this.published) hold('delivered at least once', known.has(id), () => `${id} is not stored`);
  }

  protected override onKilled(killed: DeliveryReplica): void {
    for (const [name, replica] of this.delivering) if (replica === killed) this.delivering.delete(name);
  }

  private found(...violation: ConstructorParameters<typeof Violation>): void {
    this.violations.push(new Violation(...violation));
  }

  private idOf(number: number): string {
    return `record-${String(number).padStart(4, '0')}`;
  }

  private async deliver(replica: DeliveryReplica, rows: readonly LedgerRow[], signal: AbortSignal): Promise<void> {
    const ids = rows.map(({ id }) => id);
    const isSorted = ids.every((id, index) => index === 0 || (ids[index - 1] ?? '') < id);
    if (!isSorted) this.found('delivered at least once', `not in order: ${ids.join(', ')}`);
    await this.receive(replica, 'feed', signal, () => {
      for (const { id, outcome } of rows) this.taken.set(id, outcome);
    });
  }

  private async post(replica: DeliveryReplica, eventId: string): Promise<string | undefined> {
    const late = AbortSignal.timeout(REQUEST_MS);
    return this.receive(replica, eventId, late, () => this.taken.set(eventId, 'taken')).then(
      () => undefined,
      (error: unknown) => String(error),
    );
  }

  /** What the receiver does with one delivery. */
  private async receive(replica: DeliveryReplica, name: string, signal: AbortSignal, take: () => void): Promise<void> {
    const other = this.delivering.get(name);
    const isLate = other !== undefined && this.time.nowMs - other.owner.stoppedUntil < LATE_MS;
    if (other !== undefined && !isLate) this.found('one delivery at a time', name);
    this.delivering.set(name, replica);
    const { receiver } = this;
    try {
      await new Promise<void>((resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
        if (receiver === 'silent') return;
        this.time.after(this.random.pick([1, 20, 400, 3_000]), () => {
          if (receiver !== 'refuses') take();
          if (receiver === 'up') resolve();
          else reject(new Error(receiver));
        });
      });
    } finally {
      if (this.delivering.get(name) === replica) this.delivering.delete(name);
    }
  }

  /** What the database no longer has to deliver was delivered. */
  private checkRemoved(): void {
    const records = this.shared.rows<{ id: string; outcome: string }>(
      'SELECT id, outcome FROM usage_records WHERE id NOT IN (SELECT row_id FROM outbox_entries)',
    );
    for (const { id, outcome } of records) this.expectTaken(id, outcome);
    const events = this.shared.rows<{ event_id: string }>(
      'SELECT event_id FROM webhook_deliveries WHERE next_attempt_at IS NULL',
    );
    for (const { event_id } of events) this.expectTaken(event_id, 'taken');
  }

  private expectTaken(id: string, wanted: string): void {
    const taken = this.taken.get(id);
    if (taken === wanted) return;
    this.found('delivered at least once', `${id} is ${wanted}, and was delivered as ${taken}`);
  }
}
