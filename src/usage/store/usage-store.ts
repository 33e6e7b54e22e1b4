import type { BegunStream, UsageRecord } from '../record/usage-record.js';

/**
 * Streams that began at about the same time. A batch is stored until all its streams are over.
 */
export interface IntentBatch {
  readonly id: string;
  readonly streams: readonly BegunStream[];
}

/**
 * An {@link IntentBatch} of a replica that counts as dead.
 */
export interface AbandonedBatch extends IntentBatch {
  /** The stored text, if the streams cannot be read from it. */
  readonly unreadable?: string | undefined;
}

/**
 * A record that {@link UsageStore.append} refused because of its data. An operator can recover the record from this form.
 *
 * @experimental
 * @since 1.0
 */
export interface DeadLetter {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly reason: string;
  /** The whole record as JSON. It contains no text of a conversation. */
  readonly record: string;
}

/**
 * Stores the ledger. Each method may be called again with the same arguments: existing data stays.
 *
 * A store throws {@link UnstorableData} for data that it can never store. Every other error counts as an outage: the ledger
 * waits and retries.
 *
 * @experimental
 * @since 1.0
 */
export abstract class UsageStore {
  /** Stores the intents of streams, so that the streams are known even if this process is killed. */
  abstract open(batch: IntentBatch): Promise<void>;
  /**
   * Stores the records of streams that are over. Stores all of the records or, if it rejects, none of them. A record replaces an
   * `interrupted` record of the same stream, and an `interrupted` record replaces none.
   */
  abstract append(records: readonly UsageRecord[]): Promise<void>;
  /** Deletes batches. {@link append} has stored the records of all their streams. */
  abstract close(batchIds: readonly string[]): Promise<void>;
  /** Stores a heartbeat of this process. The ledger calls this method every 10 seconds. */
  abstract beat(): Promise<void>;
  /**
   * Returns batches of processes that count as dead, for example after 60 seconds without a heartbeat. A process that is
   * alive all the same corrects the records when its streams end, see {@link append}.
   *
   * @param isUrgent whether a client waits for a receipt, so that a more expensive check is justified.
   */
  abstract abandoned(isUrgent?: boolean): Promise<readonly AbandonedBatch[]>;
  /** Removes this process at an orderly shutdown. Batches that remain then count as abandoned. */
  abstract leave(): Promise<void>;
  /**
   * Deletes at most `limit` records of streams that began before `startedAt`, in milliseconds since 1970. Optional: without
   * this method, USAGE_RETENTION_DAYS has no effect.
   *
   * @returns the number of deleted records.
   */
  deleteBefore?(startedAt: number, limit: number): Promise<number>;
  /** Stores a record that {@link append} refused. Optional: without this method the log gets the record. */
  deadLetter?(refused: DeadLetter): Promise<void>;
}
