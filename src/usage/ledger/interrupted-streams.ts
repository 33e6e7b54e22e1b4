import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { elapsedMs, sleep, startInterval } from '../../platform/common/timers/pace.js';
import type { StartedStream, UsageRecord } from '../record/usage-record.js';
import type { AbandonedBatch } from '../store/started-streams.js';
import { UnsharedLimits } from '../store/unshared-limits.js';
import { UsageStore } from '../store/usage-store.js';
import { RecordWriter } from './record-writer.js';

const BEAT_MS = 10_000;
const RECHECK_MS = 300;
const RECORDS_PER_STATEMENT = 50;

/**
 * Creates the records of streams whose process was killed: at the start of a replica, every 10 seconds while it runs, and when
 * a receipt is missing.
 */
@Injectable()
export class InterruptedStreams implements OnApplicationBootstrap {
  private readonly logger = new Logger(InterruptedStreams.name);
  private timer: NodeJS.Timeout | undefined;
  private checking: Promise<void> | undefined;
  private nextCheck: Promise<void> | undefined;
  private checkedAt = -RECHECK_MS;
  private isLeaving = false;

  constructor(
    private readonly store: UsageStore,
    private readonly writer: RecordWriter,
    private readonly unsharedLimits: UnsharedLimits,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.check(false);
    this.timer = startInterval(() => void this.checkOnce(false), BEAT_MS);
  }

  /**
   * Creates the records of streams whose process is known to be killed, without waiting for the next round. Rounds are at
   * least 0.3 seconds apart, and concurrent calls share one round.
   */
  checkSoon(): Promise<void> {
    return (this.nextCheck ??= this.checkAfter(this.checkedAt + RECHECK_MS - elapsedMs()).finally(() => {
      this.nextCheck = undefined;
    }));
  }

  /**
   * Removes this process from the store at an orderly shutdown. Intents that remain belong to no process, so other
   * replicas record them.
   */
  async leave(): Promise<void> {
    this.isLeaving = true;
    clearInterval(this.timer);
    await this.checking;
    // If the store is unavailable, other replicas detect the end of this process by its missing heartbeat.
    await this.store.leave().catch(() => undefined);
  }

  private async checkAfter(delayMs: number): Promise<void> {
    if (delayMs > 0) await sleep(delayMs, { ref: false });
    await this.checkOnce(true);
  }

  private checkOnce(isUrgent: boolean): Promise<void> {
    if (this.isLeaving) return Promise.resolve();
    return (this.checking ??= this.check(isUrgent).finally(() => {
      this.checking = undefined;
      this.checkedAt = elapsedMs();
    }));
  }

  private async check(isUrgent: boolean): Promise<void> {
    try {
      await this.store.beat();
      if (!isUrgent) await this.unsharedLimits.check();
      for (;;) {
        const batches = await this.store.abandoned(isUrgent);
        if (batches.length === 0) return;
        for (const batch of batches) await this.deadLetterUnreadable(batch);
        await this.write(batches.flatMap(({ streams }) => streams).map(interruptedRecord));
        await this.store.close(batches.map(({ id }) => id));
      }
    } catch (error) {
      // The next round retries. The writers that need the store report its failure.
      this.logger.debug(error);
    }
  }

  private async write(records: readonly UsageRecord[]): Promise<void> {
    for (let written = 0; written < records.length;) {
      written += await this.writer.writeSome(records.slice(written, written + RECORDS_PER_STATEMENT));
    }
  }

  private async deadLetterUnreadable({ id, unreadable }: AbandonedBatch): Promise<void> {
    if (unreadable === undefined) return;
    const reason = 'The intents of interrupted streams cannot be read.';
    await this.writer.deadLetter({ id, requestId: undefined, reason, record: unreadable });
  }
}

/** Returns the record of a stream whose process has died. */
export function interruptedRecord(started: StartedStream): UsageRecord {
  return {
    ...started,
    upstream: undefined,
    attempts: [],
    firstTextAt: undefined,
    endedAt: undefined,
    outcome: 'interrupted',
    errorCode: undefined,
    finishReason: undefined,
    inputTokens: { source: 'unknown' },
    outputTokens: { source: 'unknown' },
    price: undefined,
    costMicros: undefined,
  };
}
