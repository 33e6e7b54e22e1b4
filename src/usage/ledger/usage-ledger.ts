import { Inject, Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Principal } from '../../auth/principal/principal.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { cutText } from '../../platform/common/text/cut-text.js';
import { timeOrderedId } from '../../platform/common/time-ordered-id.js';
import { elapsedMs, sleep, startTimer } from '../../platform/common/timers/pace.js';
import type { ModelConfig } from '../../platform/config/config.js';
import { LedgerEntry } from '../record/ledger-entry.js';
import type { TokenCount, UsageRecord, UsageClient } from '../record/usage-record.js';
import { UsageStore } from '../store/usage-store.js';
import { InterruptedStreams } from './interrupted-streams.js';
import { IntentLog, type StreamIntent } from './intent-log.js';
import { RecordWriter } from './record-writer.js';

/** Returns who asks, without any secret that would allow another request. */
export function usageClient({ accountId, credential }: Principal): UsageClient {
  const ofKey = credential.kind === 'api_key' ? credential : undefined;
  return { accountId, credential: credential.kind, keyId: ofKey?.keyId, keyPrefix: ofKey?.prefix };
}

/** Records that end at about the same time are written together. The following records are written in the next round. */
const WRITE_SOON_MS = 5;
const WRITE_EVERY_MS = 100;
const RETRY_AFTER_MS = 1_000;
const ATTEMPTS_AT_SHUTDOWN = 3;
const MAX_REASON_LENGTH = 200;

/**
 * Stores exactly one record for each admitted stream, however the stream ends. Writing records does not delay the text of
 * an answer.
 */
@Injectable()
export class UsageLedger implements BeforeApplicationShutdown {
  private readonly logger = new Logger(UsageLedger.name);
  private readonly listeners: ((record: UsageRecord) => void)[] = [];
  private readonly storeListeners: ((recordIds: readonly string[]) => void)[] = [];
  private readonly intents: IntentLog;
  private readonly queue = new RecordQueue<{ readonly record: UsageRecord; readonly intent: StreamIntent }>();
  /** The number of records that were lost since the start, because the store was unavailable for too long. */
  lost = 0;
  /** The number of failed write rounds since the start, because the store was unavailable. */
  writeFailures = 0;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private writtenAt = -WRITE_EVERY_MS;
  private isBehind = false;
  private isStopping = false;

  constructor(
    store: UsageStore,
    private readonly writer: RecordWriter,
    private readonly interrupted: InterruptedStreams,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    this.intents = new IntentLog(store, () => {
      this.writeAfter(RETRY_AFTER_MS);
    });
  }

  /** Adds a function that is called with the record of each stream that ends from now on. It must not throw. */
  listen(listener: (record: UsageRecord) => void): void {
    this.listeners.push(listener);
  }

  /** Adds a function that is called with the ids of records after the store has them, or after they are lost. */
  listenStored(listener: (recordIds: readonly string[]) => void): void {
    this.storeListeners.push(listener);
  }

  /** The number of records since the start that the store refused because of their data. */
  get deadLetter(): number {
    return this.writer.deadLetterCount;
  }

  /** The number of records not written yet. */
  get queued(): number {
    return this.queue.length;
  }

  /** Returns an id for the record of a stream that begins now or later. */
  newId(): string {
    return timeOrderedId(this.now());
  }

  /**
   * Starts the entry of a stream. Call this when a stream is admitted.
   *
   * @param detached `true` for a durable stream.
   * @param id the id of the record, from {@link newId}. By default a new id.
   * @param surface the name of the surface that the client has used, if any.
   */
  begin(
    requestId: string,
    principal: Principal,
    model: ModelConfig,
    detached?: boolean,
    id?: string,
    surface?: string,
  ): LedgerEntry {
    const startedAt = this.now();
    const started = {
      id: id ?? timeOrderedId(startedAt),
      requestId,
      ...usageClient(principal),
      model: model.id,
      startedAt,
      detached,
      surface,
    };
    const intent = this.intents.add(started);
    return new LedgerEntry(started, model, intent.stored, (record) => {
      this.warnOfImplausible(record);
      for (const listener of this.listeners) listener(record);
      if (!this.queue.add({ record, intent })) {
        this.lost++;
        intent.settle();
        this.notifyStored([record.id]);
      }
      this.writeAfter(Math.max(WRITE_SOON_MS, this.writtenAt + WRITE_EVERY_MS - elapsedMs()));
    });
  }

  /** Writes all records that are not written yet. The shutdown order ensures that no stream begins after this. */
  async beforeApplicationShutdown(): Promise<void> {
    // From now on only this method writes. Two rounds at once would take records from the queue that neither has stored.
    this.isStopping = true;
    clearTimeout(this.timer);
    await this.writing;
    for (let attempt = 1; attempt <= ATTEMPTS_AT_SHUTDOWN; attempt++) {
      if (attempt > 1) await sleep(RETRY_AFTER_MS);
      if (await this.write()) break;
    }
    if (this.queued > 0) this.logger.error(`${this.queued} usage records could not be written`);
    await this.interrupted.leave();
  }

  private warnOfImplausible({ requestId, model, upstream, inputTokens, outputTokens }: UsageRecord): void {
    if (inputTokens.source !== 'implausible' && outputTokens.source !== 'implausible') return;
    this.logger.warn({
      msg: 'An upstream reported an implausible number of tokens. The ledger uses an estimate instead',
      requestId,
      model,
      upstream,
      inputTokens: reportedOf(inputTokens),
      outputTokens: reportedOf(outputTokens),
    });
  }

  private notifyStored(recordIds: readonly string[]): void {
    for (const listener of this.storeListeners) listener(recordIds);
  }

  private writeAfter(delayMs: number): void {
    if (this.writing !== undefined || this.isStopping) return;
    this.timer ??= startTimer(() => void this.write(), delayMs).unref();
  }

  /** @returns whether all records are stored now. */
  private async write(): Promise<boolean> {
    this.timer = undefined;
    const outcome = this.flush().then(
      () => undefined,
      (error: unknown) => ({ reason: cutText(String(error), MAX_REASON_LENGTH) }),
    );
    this.writing = outcome.then(() => undefined);
    const failure = await outcome;
    this.writing = undefined;
    this.writtenAt = elapsedMs();
    if (failure !== undefined) this.writeFailures++;
    this.report(failure);
    if (failure !== undefined || this.queued > 0) {
      this.writeAfter(failure === undefined ? WRITE_EVERY_MS : RETRY_AFTER_MS);
    }
    return failure === undefined && this.queued === 0;
  }

  private async flush(): Promise<void> {
    await this.queue.drain(async (portion) => {
      const count = await this.writer.writeSome(portion.map(({ record }) => record));
      const stored = portion.slice(0, count);
      for (const { intent } of stored) intent.settle();
      this.notifyStored(stored.map(({ record }) => record.id));
      return count;
    });
    await this.intents.flush();
  }

  private report(failure: { readonly reason: string } | undefined): void {
    const isBehind = failure !== undefined;
    if (isBehind === this.isBehind) return;
    this.isBehind = isBehind;
    if (isBehind) {
      this.logger.warn({ msg: 'Usage records cannot be written: they wait until the database is back', ...failure });
    } else this.logger.log('Usage records are written again');
  }
}

/** Returns a text, because JSON does not support infinity. */
function reportedOf(count: TokenCount): string | undefined {
  return count.source === 'implausible' ? String(count.reported) : undefined;
}

/** The maximum number of records in memory, for the time when the store is unavailable. They use about 50 MB. */
const MAX_QUEUED = 100_000;
const RECORDS_PER_WRITE = 50;

/**
 * Holds the records that are not stored yet, oldest first. The length is limited, because a store can be unavailable for
 * days.
 */
export class RecordQueue<Entry> {
  private readonly entries: Entry[] = [];

  get length(): number {
    return this.entries.length;
  }

  /** Adds an entry. Returns false when the queue is full. */
  add(entry: Entry): boolean {
    if (this.entries.length >= MAX_QUEUED) return false;
    this.entries.push(entry);
    return true;
  }

  /**
   * Passes all entries to `keep`, in portions. Entries stay in the queue until they are stored. Rejects when `keep`
   * rejects.
   *
   * @param store resolves to the number of stored entries of the portion, counted from the first: at least one.
   */
  async drain(store: (portion: readonly Entry[]) => Promise<number>): Promise<void> {
    while (this.entries.length > 0) {
      this.entries.splice(0, await store(this.entries.slice(0, RECORDS_PER_WRITE)));
    }
  }
}
