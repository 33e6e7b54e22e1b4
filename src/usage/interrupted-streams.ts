import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { inChunks } from '../accounts/in-chunks.js';
import type { BegunStream, UsageRecord } from './usage-record.js';
import { UsageStore } from './usage-store.js';

const BEAT_MS = 10_000;
const RECORDS_PER_STATEMENT = 50;

/**
 * Gives every stream that was open in a process that was killed its record, at the next start of any replica or, while
 * replicas run, within about a minute.
 */
@Injectable()
export class InterruptedStreams implements OnApplicationBootstrap {
  private readonly logger = new Logger(InterruptedStreams.name);
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> | undefined;

  constructor(private readonly store: UsageStore) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.look();
    this.timer = setInterval(() => {
      this.looking ??= this.look().finally(() => (this.looking = undefined));
    }, BEAT_MS).unref();
  }

  /** This process ends in order: what it left open, if anything, is nobody's any more. */
  async leave(): Promise<void> {
    clearInterval(this.timer);
    await this.looking;
    // Where the store is away, others find out by themselves.
    await this.store.leave().catch(() => undefined);
  }

  private async look(): Promise<void> {
    try {
      await this.store.beat();
      for (;;) {
        const batches = await this.store.abandoned();
        if (batches.length === 0) return;
        const streams = batches.flatMap((batch) => batch.streams);
        for (const some of inChunks(streams.map(interrupted), RECORDS_PER_STATEMENT)) await this.store.append(some);
        await this.store.close(batches.map(({ id }) => id));
      }
    } catch (error) {
      // The next look may do better; that the store is away is told by whoever needs it.
      this.logger.debug(error);
    }
  }
}

function interrupted(begun: BegunStream): UsageRecord {
  return {
    ...begun,
    upstream: undefined,
    attempts: [],
    firstTextAt: undefined,
    endedAt: undefined,
    outcome: 'interrupted',
    errorCode: undefined,
    finishReason: undefined,
    promptTokens: { source: 'unknown' },
    completionTokens: { source: 'unknown' },
    price: undefined,
    costMicros: undefined,
  };
}
