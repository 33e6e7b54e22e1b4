import type { BegunStream, UsageRecord } from './usage-record.js';

/** Streams that were begun at about the same moment, kept together until all of them are over. */
export interface OpeningBatch {
  readonly id: string;
  readonly streams: readonly BegunStream[];
}

/** Where the ledger is kept. Every method may be called again with the same: what is there already stays. */
export abstract class UsageStore {
  /** Keeps what has begun, so that it is known even if this process is killed. */
  abstract open(batch: OpeningBatch): Promise<void>;
  /** Keeps what is over. */
  abstract append(records: readonly UsageRecord[]): Promise<void>;
  /** Forgets batches of which every stream is kept by {@link append}. */
  abstract close(batchIds: readonly string[]): Promise<void>;
  /** Says that this process lives; to be called every few seconds. */
  abstract beat(): Promise<void>;
  /** Batches of processes that live no more. */
  abstract abandoned(): Promise<readonly OpeningBatch[]>;
  /** This process ends in order, and leaves nothing open. */
  abstract leave(): Promise<void>;
}
