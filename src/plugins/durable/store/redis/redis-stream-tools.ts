import { randomUUID } from 'node:crypto';
import { elapsedMs, ServiceError, sleep, startTimer } from '../../../../plugin-api/core/common.js';
import { type RedisConnection, RedisUnavailable } from '../../../../plugin-api/core/redis.js';
import type { StreamAddress } from '../../stream-identity.js';
import type { Ending } from '../../log/stream-log.js';
import { MAX_READERS, noSuchStream, tooManyReaders } from '../stream-store.js';
import { FORGET, LEASE_MS, READ, type ReadReply, type StreamKeys } from './stream-scripts.js';

/** A dead replica's stream is kept for its readers this much longer than a stream that has ended. */
const SPARE_MS = 60_000;
/**
 * After an outage, owners need this time to renew their claims, and to restore what Redis has lost. Until then, no claim counts as
 * expired and no key as free.
 */
const RENEWED_WITHIN_MS = 3_000;
const RETRY_AFTER_MS = 250;
/** An expired claim is ended when it was seen for this long, as Redis may have answered its owner late. */
const EXPIRED_FOR_MS = 1_000;
/** The expiry of a claim is noticed in this time, too. */
const CANCELLED_WITHIN_MS = 10_000;
const RETRY_AFTER_SECONDS = 1;

export const INTERRUPTED: Ending = {
  kind: 'failed',
  code: 'interrupted',
  message: 'The process that generated this stream has stopped unexpectedly. The text up to here is kept.',
};

/** What Redis needs to know of a claimed stream. */
export interface ClaimedStream {
  readonly address: StreamAddress;
  readonly accountId: string;
  readonly generation: string;
  readonly keys: StreamKeys;
  readonly wrap: string;
  readonly check: string;
}

/** A stream in Redis: its keys, and the generation that may be meant. */
export type StreamName = Pick<ClaimedStream, 'keys' | 'generation'>;

interface ReadOptions {
  readonly readerId?: string;
  /** The number of entries that were read. */
  readonly after?: number;
  readonly maxEntries?: number;
  readonly also?: 'cancel' | 'bury';
  /** Ends a stream whose claim has expired for some time. */
  readonly claim?: WatchedClaim;
}

/** What one caller has seen of the claim on a stream. */
export class WatchedClaim {
  private expiredSince: number | undefined;

  get isOver(): boolean {
    return this.expiredSince !== undefined && elapsedMs() - this.expiredSince >= EXPIRED_FOR_MS;
  }

  see(isExpired: boolean): void {
    this.expiredSince = isExpired ? (this.expiredSince ?? elapsedMs()) : undefined;
  }
}

/** The commands for streams that have no other owner. */
export class RedisStreamTools {
  /** How long Redis keeps a stream that runs, without a sign of its owner. */
  readonly runningMs: number;

  constructor(
    readonly redis: RedisConnection,
    readonly retentionMs: number,
  ) {
    this.runningMs = retentionMs + SPARE_MS;
  }

  /** Whether a claim that has expired may be ended, and a free key may be taken. */
  maySettle({ meta }: StreamKeys): boolean {
    return this.redis.availableForMs(meta) >= RENEWED_WITHIN_MS;
  }

  async read({ keys, generation }: StreamName, options: ReadOptions): Promise<[string, ReadReply[1]]> {
    const { readerId = '', after = 0, maxEntries = 0, also = '', claim } = options;
    if (!this.maySettle(keys)) claim?.see(false);
    const settles = claim?.isOver === true ? '1' : '0';
    const args = [generation, readerId, String(MAX_READERS), `${after}-0`, String(maxEntries), settles];
    const [state, entries, isExpired] = (await this.redis.run(keys.meta, (client) =>
      READ.runForBytes(client, [keys.meta, keys.log, keys.readers], [...args, String(this.retentionMs), also]),
    )) as ReadReply;
    claim?.see(isExpired === 1 && this.maySettle(keys));
    return [state.toString(), entries];
  }

  /**
   * Takes a slot for a reader, for some seconds.
   *
   * @returns the id of the reader.
   * @throws {ServiceError} `concurrency_limit_exceeded`, `not_found` when Redis has no such stream, or `unavailable`.
   */
  async takeSlot(keys: StreamKeys, generation: string): Promise<string> {
    const readerId = randomUUID();
    const [state] = await orStreamsUnavailable(this.read({ keys, generation }, { readerId }));
    if (state === 'full') throw tooManyReaders();
    if (state === 'gone') throw noSuchStream();
    return readerId;
  }

  releaseSlot({ readers }: StreamKeys, readerId: string): void {
    this.redis.runWithoutTimeout(readers, (client) => client.zrem(readers, readerId)).catch(() => undefined);
  }

  /** Asks the owner of a stream to stop. Resolves when the stream is over. */
  async cancel(keys: StreamKeys, generation: string): Promise<void> {
    const until = elapsedMs() + CANCELLED_WITHIN_MS;
    const claim = new WatchedClaim();
    for (;;) {
      const [state] = await orStreamsUnavailable(this.read({ keys, generation }, { also: 'cancel', claim }));
      if (state !== 'waiting' && state !== 'running') return;
      if (elapsedMs() > until) throw unavailable();
      await sleep(RETRY_AFTER_MS / 2, { ref: false });
    }
  }

  /** Deletes a stream that has ended. Those who read it still get its ending. */
  async forget({ keys, generation }: StreamName): Promise<void> {
    const args = [generation, String(this.runningMs)];
    await this.redis.runWithoutTimeout(keys.meta, (client) => FORGET.run(client, [keys.meta, keys.log], args));
  }

  /**
   * Frees the key of a stream that has not begun. Tries again until the claim has expired anyway.
   *
   * @param failure the sealed reason for the requests that wait, or ''.
   */
  release({ keys, generation }: StreamName, failure: Buffer | ''): void {
    const until = elapsedMs() + LEASE_MS;
    const args = [generation, String(LEASE_MS), failure];
    const attempt = (): void => {
      this.redis
        .run(keys.meta, (client) => FORGET.run(client, [keys.meta, keys.log], args))
        .catch(() => {
          if (elapsedMs() < until) startTimer(attempt, RETRY_AFTER_MS).unref();
        });
    };
    attempt();
  }
}

/** Converts an outage of Redis to the error that a client gets. */
export async function orStreamsUnavailable<T>(commands: Promise<T>): Promise<T> {
  try {
    return await commands;
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    throw unavailable(error);
  }
}

export function unavailable(cause?: unknown): ServiceError {
  return new ServiceError('unavailable', 'Durable streams are not available right now. Try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
