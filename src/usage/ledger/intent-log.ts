import { Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { elapsedMs, startTimer } from '../../platform/common/timers/pace.js';
import type { StartedStream } from '../record/usage-record.js';
import { UnstorableData } from '../store/ledger-text.js';
import type { UsageStore } from '../store/usage-store.js';

/**
 * The least time after a write to the next one, for each stream of the write. Streams that begin meanwhile are written together: under
 * load, a write for each would cost more than all other work of the ledger. A stream that begins after a pause is written with those
 * of the same turn of the event loop.
 */
const PAUSE_MS_PER_STREAM = 2;
const MAX_PAUSE_MS = 10;
/** The maximum delay that the store may cause for a stream. A store that needs longer counts as unavailable. */
const MAX_DELAY_MS = 500;

/** The intent of one stream. */
export interface StreamIntent {
  /** Resolves when the store has the intent, or when the store is unavailable. Never rejects. */
  readonly stored: Promise<void>;
  /** Call this when the record of the stream is stored. The intent is then no longer needed. */
  settle(): void;
}

/**
 * Stores the intent of each stream before its provider is called, so that a killed process leaves a trace of each
 * call. While the store is unavailable, streams do not wait for it. When the store works again, the log writes the
 * intents of the streams that are still open.
 */
export class IntentLog {
  private readonly logger = new Logger(IntentLog.name);
  private gathering: Batch | undefined;
  /** Batches that are not written yet, because the store failed. */
  private readonly unwritten = new Set<Batch>();
  /** Batches whose streams are over, and that the store has or may have: a failed write can still have taken effect. */
  private readonly finished = new Set<Batch>();
  private isUnavailable = false;
  /** When the next write may begin (`elapsedMs()`). */
  private nextWriteAt = -Infinity;

  /** @param onFailure called when a write failed. The owner must call {@link flush} later. */
  constructor(
    private readonly store: UsageStore,
    private readonly onFailure: () => void,
  ) {}

  add(stream: StartedStream): StreamIntent {
    const batch = (this.gathering ??= this.newBatch());
    batch.streams.set(stream.id, stream);
    return {
      stored: batch.stored,
      settle: () => {
        batch.streams.delete(stream.id);
        if (batch.streams.size === 0 && batch !== this.gathering && !batch.isBeingWritten) this.finish(batch);
      },
    };
  }

  /** Writes the missing intents, and removes the intents that are no longer needed. Rejects when the store fails. */
  async flush(): Promise<void> {
    for (const batch of this.unwritten) await this.write(batch);
    const over = [...this.finished];
    if (over.length === 0) return;
    await this.store.close(over.flatMap((batch) => [...batch.triedIds]));
    for (const batch of over) this.finished.delete(batch);
  }

  private newBatch(): Batch {
    const batch = new Batch(this.isUnavailable);
    const write = (): void => {
      this.gathering = undefined;
      this.nextWriteAt = elapsedMs() + Math.min(MAX_PAUSE_MS, batch.streams.size * PAUSE_MS_PER_STREAM);
      this.write(batch).catch(this.onFailure);
    };
    const waitMs = this.nextWriteAt - elapsedMs();
    if (waitMs > 0) startTimer(write, waitMs);
    else setImmediate(write);
    return batch;
  }

  private async write(batch: Batch): Promise<void> {
    if (batch.streams.size === 0) {
      // All streams ended, and their records are stored, before the intent was written.
      batch.resolveStored();
      return;
    }
    this.unwritten.add(batch);
    const timer = startTimer(() => {
      this.isUnavailable = true;
      batch.resolveStored();
    }, MAX_DELAY_MS);
    batch.isBeingWritten = true;
    try {
      await this.open(batch);
      this.isUnavailable = false;
      this.unwritten.delete(batch);
    } catch (error) {
      this.isUnavailable = true;
      throw error;
    } finally {
      clearTimeout(timer);
      batch.isBeingWritten = false;
      if (batch.streams.size === 0) this.finish(batch);
      batch.resolveStored();
    }
  }

  /** Writes the batch. If the store refuses its data, each stream is written alone: usually only one stream is invalid. */
  private async open({ id, streams, triedIds }: Batch): Promise<void> {
    const all = [...streams.values()];
    triedIds.add(id);
    try {
      await this.store.open({ id, streams: all });
    } catch (error) {
      if (!(error instanceof UnstorableData)) throw error;
      triedIds.delete(id);
      for (const stream of all) await this.openAlone(stream, triedIds);
    }
  }

  /**
   * Writes one stream. If the store refuses its data, the stream runs without an intent, and only its record will show it.
   */
  private async openAlone(stream: StartedStream, triedIds: Set<string>): Promise<void> {
    const { id, requestId } = stream;
    triedIds.add(id);
    try {
      await this.store.open({ id, streams: [stream] });
    } catch (error) {
      if (!(error instanceof UnstorableData)) throw error;
      triedIds.delete(id);
      this.logger.error({
        msg: 'The store refuses the intent of a stream',
        requestId,
        recordId: id,
        reason: error.message,
      });
    }
  }

  private finish(batch: Batch): void {
    this.unwritten.delete(batch);
    if (batch.triedIds.size > 0) this.finished.add(batch);
  }
}

class Batch {
  readonly id = randomUUID();
  /** The ids under which the store may have the batch, or single streams of the batch. */
  readonly triedIds = new Set<string>();
  /** The streams that are not over, by id. */
  readonly streams = new Map<string, StartedStream>();
  readonly stored: Promise<void>;
  resolveStored!: () => void;
  isBeingWritten = false;

  /** @param isUnavailable true when the store is unavailable, so that the streams of this batch do not wait. */
  constructor(isUnavailable: boolean) {
    this.stored = new Promise((resolve) => {
      this.resolveStored = resolve;
    });
    if (isUnavailable) this.resolveStored();
  }
}
