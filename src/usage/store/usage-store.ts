import type { BegunStream, UsageRecord } from '../record/usage-record.js';

/** Streams that were begun at about the same moment, kept together until all of them are over. */
export interface OpeningBatch {
  readonly id: string;
  readonly streams: readonly BegunStream[];
}

/** An {@link OpeningBatch} of a process that is gone. */
export interface AbandonedBatch extends OpeningBatch {
  /** The stored text, if the streams cannot be read from it. */
  readonly unreadable?: string | undefined;
}

/** A record that {@link UsageStore.append} refused for its data, in a form from which an operator can recover it. */
export interface SetAsideRecord {
  readonly id: string;
  readonly requestId: string | undefined;
  readonly reason: string;
  /** The whole record as JSON. It contains no text of a conversation. */
  readonly record: string;
}

/**
 * Where the ledger is kept. Every method may be called again with the same: what is there already stays.
 *
 * A store throws {@link UnstorableData} for data that it can never store. Every other error counts as an outage, after which the
 * ledger retries.
 */
export abstract class UsageStore {
  /** Keeps what has begun, so that it is known even if this process is killed. */
  abstract open(batch: OpeningBatch): Promise<void>;
  /** Keeps what is over. Stores all of the records or, if it rejects, none of them. */
  abstract append(records: readonly UsageRecord[]): Promise<void>;
  /** Forgets batches of which every stream is kept by {@link append}. */
  abstract close(batchIds: readonly string[]): Promise<void>;
  /** Says that this process lives; to be called every few seconds. */
  abstract beat(): Promise<void>;
  /** Batches of processes that live no more. */
  abstract abandoned(): Promise<readonly AbandonedBatch[]>;
  /** This process ends in order, and leaves nothing open. */
  abstract leave(): Promise<void>;
  /** Keeps a record that {@link append} refused. Optional: without this method the record is written to the log. */
  setAside?(refused: SetAsideRecord): Promise<void>;
}
