import { SHARED_LIMITS } from '../support/shared-limits.js';
import type { DataSource } from 'typeorm';
import { EmbeddedAvailability } from '../../src/platform/database/database-availability.js';
import type { Principal } from '../../src/auth/principal/principal.js';
import type { ModelConfig } from '../../src/platform/config/config.js';
import { CallTrace } from '../../src/upstreams/completion/call-trace.js';
import { InterruptedStreams } from '../../src/usage/ledger/interrupted-streams.js';
import { RecordWriter } from '../../src/usage/ledger/record-writer.js';
import { UsageLedger } from '../../src/usage/ledger/usage-ledger.js';
import type { LedgerEntry } from '../../src/usage/record/ledger-entry.js';
import type { StartedStream, UsageRecord } from '../../src/usage/record/usage-record.js';
import type { AbandonedBatch, IntentBatch } from '../../src/usage/store/started-streams.js';
import { UsageStore, type DeadLetter } from '../../src/usage/store/usage-store.js';

export type Step = 'open' | 'append' | 'close' | 'beat' | 'abandoned' | 'leave' | 'deadLetter';
/** `before`: nothing has happened. `after`: it has happened, and its answer is lost. */
type When = 'before' | 'after';

/** The store of one process, whose steps can be made to fail. */
class BreakableStore extends UsageStore {
  readonly failing = new Map<Step, When>();
  /** Steps that were started. */
  readonly started: Step[] = [];
  isKilled = false;
  /** The process is killed when it begins this step. */
  killedAt: Step | undefined;
  constructor(source: DataSource) {
    super(source, new EmbeddedAvailability());
  }

  override open(batch: IntentBatch) {
    return this.run('open', () => super.open(batch));
  }
  override append(records: readonly UsageRecord[]) {
    return this.run('append', () => super.append(records));
  }
  override close(ids: readonly string[]) {
    return this.run('close', () => super.close(ids));
  }
  override beat() {
    return this.run('beat', () => super.beat());
  }
  override abandoned(isUrgent?: boolean) {
    return this.run<readonly AbandonedBatch[]>('abandoned', () => super.abandoned(isUrgent));
  }
  override leave() {
    return this.run('leave', () => super.leave());
  }
  override deadLetter(record: DeadLetter) {
    return this.run('deadLetter', () => super.deadLetter(record));
  }

  private async run<T>(step: Step, work: () => Promise<T>): Promise<T> {
    this.started.push(step);
    if (step === this.killedAt) this.isKilled = true;
    // A process that is dead does nothing more, and nobody hears of it.
    if (this.isKilled) return new Promise(() => undefined);
    const when = this.failing.get(step);
    if (when === 'before') throw new Error('The connection was cut.');
    const answer = await work();
    if (when === 'after') throw new Error('The connection was cut.');
    return answer;
  }
}

const PRINCIPAL: Principal = {
  accountId: 'ada',
  tier: { name: 'free', requestsPerMinute: undefined, concurrentStreams: undefined, maxTokens: undefined, plugins: {} },
  credential: { kind: 'api_key', keyId: 'laptop', prefix: 'csk_12345678' },
};
const MODEL = { id: 'acme/fast', contextLength: 8192, price: undefined, maxOutputTokens: undefined };

/** The ledger of one process of the service. Several may share a database. */
export class LedgerProcess {
  readonly store: BreakableStore;
  readonly ledger: UsageLedger;
  private readonly interrupted: InterruptedStreams;

  constructor(source: DataSource) {
    this.store = new BreakableStore(source);
    const writer = new RecordWriter(this.store);
    this.interrupted = new InterruptedStreams(this.store, writer, SHARED_LIMITS);
    this.ledger = new UsageLedger(this.store, writer, this.interrupted, Date.now);
  }

  /** Takes over what processes that are dead have left. */
  async start(): Promise<this> {
    await this.interrupted.onApplicationBootstrap();
    return this;
  }

  /** A stream whose client has heard of it. */
  async begin(): Promise<LedgerEntry> {
    const entry = this.ledger.begin('request', PRINCIPAL, MODEL as unknown as ModelConfig);
    await entry.stored;
    return entry;
  }

  end(entry: LedgerEntry): StartedStream {
    entry.end(undefined, new CallTrace('request'), 0);
    return entry.started;
  }

  fails(step: Step, when: When): void {
    this.store.failing.set(step, when);
  }

  heal(): void {
    this.store.failing.clear();
  }

  /** Without a word, as by `kill -9`: nothing of it reaches the database from now on. */
  kill(): void {
    this.store.isKilled = true;
    void this.interrupted.leave();
  }

  killAt(step: Step): void {
    this.store.killedAt = step;
  }

  /** Writes what is left, and leaves. */
  async stop(): Promise<void> {
    await this.ledger.beforeApplicationShutdown();
  }
}
