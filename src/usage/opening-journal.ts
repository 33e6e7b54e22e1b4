import { randomUUID } from 'node:crypto';
import type { BegunStream } from './usage-record.js';
import type { OpeningBatch, UsageStore } from './usage-store.js';

/** Streams that begin within this time are written together. */
const GATHERING_MS = 2;
/** The same where streams keep beginning: a write each 2 ms would cost more than all else of the ledger. Vendors take longer. */
const GATHERING_BUSY_MS = 10;
/** How long the beginning of an answer may wait for the store, which is away if it takes longer. */
const PATIENCE_MS = 500;

/** The opening of one stream. */
export interface Opening {
  /** Resolves once the store has it, or is known not to answer. Never rejects. */
  readonly kept: Promise<void>;
  /** To be called when the record of the stream is kept, which needs no opening any more. */
  settle(): void;
}

/**
 * Writes down what begins before its client hears of it, so that a killed process leaves a trace of every stream. While
 * the store is away nobody waits for it: what is still open when it is back is written then.
 */
export class OpeningJournal {
  private gathering: Batch | undefined;
  /** Not written yet, as the store failed. */
  private readonly unwritten = new Set<Batch>();
  /** Written, and over. */
  private readonly finished = new Set<Batch>();
  private isAway = false;
  private gatheredAt = -Infinity;

  /** @param onFailure called when something could not be written: {@link flush} is to be tried later. */
  constructor(
    private readonly store: UsageStore,
    private readonly onFailure: () => void,
  ) {}

  add(stream: BegunStream): Opening {
    const batch = (this.gathering ??= this.newBatch());
    batch.streams.set(stream.id, stream);
    return {
      kept: batch.kept,
      settle: () => {
        batch.streams.delete(stream.id);
        if (batch.streams.size === 0 && batch !== this.gathering) this.finish(batch);
      },
    };
  }

  /** Writes what is missing, and forgets what is over. Rejects when the store fails. */
  async flush(): Promise<void> {
    for (const batch of this.unwritten) await this.write(batch);
    const over = [...this.finished];
    if (over.length === 0) return;
    await this.store.close(over.map(({ id }) => id));
    for (const batch of over) this.finished.delete(batch);
  }

  private newBatch(): Batch {
    const batch = new Batch(this.isAway);
    const now = performance.now();
    const isBusy = now - this.gatheredAt < 2 * GATHERING_BUSY_MS;
    this.gatheredAt = now;
    setTimeout(
      () => {
        this.gathering = undefined;
        this.write(batch).catch(this.onFailure);
      },
      isBusy ? GATHERING_BUSY_MS : GATHERING_MS,
    );
    return batch;
  }

  private async write(batch: Batch): Promise<void> {
    if (batch.streams.size === 0) {
      // All of them ended, and their records are kept, before this was written.
      this.unwritten.delete(batch);
      batch.keep();
      return;
    }
    this.unwritten.add(batch);
    const patience = setTimeout(() => {
      this.isAway = true;
      batch.keep();
    }, PATIENCE_MS);
    try {
      await this.store.open({ id: batch.id, streams: [...batch.streams.values()] } satisfies OpeningBatch);
      this.isAway = false;
      this.unwritten.delete(batch);
      batch.isWritten = true;
      if (batch.streams.size === 0) this.finish(batch);
    } catch (error) {
      this.isAway = true;
      throw error;
    } finally {
      clearTimeout(patience);
      batch.keep();
    }
  }

  private finish(batch: Batch): void {
    if (batch.isWritten) this.finished.add(batch);
    else this.unwritten.delete(batch);
  }
}

class Batch {
  readonly id = randomUUID();
  /** Those that are not over, by id. */
  readonly streams = new Map<string, BegunStream>();
  readonly kept: Promise<void>;
  keep!: () => void;
  isWritten = false;

  /** @param isAway nobody is to wait. */
  constructor(isAway: boolean) {
    this.kept = new Promise((resolve) => {
      this.keep = resolve;
    });
    if (isAway) this.keep();
  }
}
