import type { BeforeApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { elapsedMs, withTimeout } from '../../../../plugin-api/core/common.js';
import { type RedisConnection, wasNotSent } from '../../../../plugin-api/core/redis.js';
import { StreamLog } from '../../log/stream-log.js';
import type { StreamMemory } from '../../log/stream-memory.js';
import { derive, isSame, newSecret, type RequestKey, type StreamAddress } from '../../stream-identity.js';
import { StreamStore, type Claim, type StoredStream, type StoreCounts } from '../stream-store.js';
import { StreamCipher } from './log-entries.js';
import { RedisOwnStream } from './redis-own-stream.js';
import { RedisRemoteStream } from './redis-remote-stream.js';
import { type ClaimedStream, orStreamsUnavailable, RedisStreamTools, unavailable } from './redis-stream-tools.js';
import { CLAIM, metaKey, REFUSED, streamKeys } from './stream-scripts.js';

/** The memory of a stream in Redis without its text. */
const STREAM_BYTES = 1024;

interface RetainedStream {
  readonly claimed: ClaimedStream;
  readonly bytes: number;
  readonly expiresAt: number;
}

interface Account {
  bytes: number;
  /** The oldest first. */
  readonly streams: Set<RetainedStream>;
}

/**
 * Limits what Redis keeps of the ended streams that this replica has generated: STREAM_MEMORY_MB for each account. Above
 * the limit, the stream of the account that ended first is dropped.
 */
export class RetainedStreams {
  /** All streams, the oldest first. */
  private readonly all = new Set<RetainedStream>();
  private readonly accounts = new Map<string, Account>();

  /** @param drop deletes a stream in Redis. */
  constructor(
    private readonly limitBytes: number,
    private readonly retentionMs: number,
    private readonly drop: (claimed: ClaimedStream) => void,
  ) {}

  /** Adds a stream that has ended, with the size of its text. */
  add(claimed: ClaimedStream, textBytes: number): void {
    this.removeExpired();
    const retained = { claimed, bytes: STREAM_BYTES + textBytes, expiresAt: elapsedMs() + this.retentionMs };
    const account = this.accounts.get(claimed.accountId) ?? { bytes: 0, streams: new Set() };
    this.accounts.set(claimed.accountId, account);
    this.all.add(retained);
    account.streams.add(retained);
    account.bytes += retained.bytes;
    for (const oldest of account.streams) {
      if (account.bytes <= this.limitBytes) return;
      this.remove(oldest);
      this.drop(oldest.claimed);
    }
  }

  private removeExpired(): void {
    const now = elapsedMs();
    for (const oldest of this.all) {
      if (oldest.expiresAt > now) return;
      this.remove(oldest);
    }
  }

  private remove(retained: RetainedStream): void {
    const { accountId } = retained.claimed;
    const account = this.accounts.get(accountId);
    this.all.delete(retained);
    if (account === undefined) return;
    account.streams.delete(retained);
    account.bytes -= retained.bytes;
    if (account.streams.size === 0) this.accounts.delete(accountId);
  }
}

const FLUSH_LIMIT_MS = 2_000;
const WRAP = 'secret';

/** Keeps streams in Redis, so that every replica can serve them. Redis sees only sealed parts. */
export class RedisStreamStore extends StreamStore implements BeforeApplicationShutdown {
  readonly isShared = true;
  /** The streams that this process generates or still sends, by the key of their log. */
  private readonly own = new Map<string, RedisOwnStream>();
  private readonly tools: RedisStreamTools;
  private readonly retained: RetainedStreams;

  constructor(
    private readonly redis: RedisConnection,
    private readonly memory: StreamMemory,
    retentionMs: number,
  ) {
    super();
    this.tools = new RedisStreamTools(redis, retentionMs);
    this.retained = new RetainedStreams(memory.limit, retentionMs, (claimed) => {
      this.tools.forget(claimed).catch(() => undefined);
    });
    redis.whenBack(() => {
      for (const stream of this.own.values()) stream.checkNow();
    });
  }

  get counts(): StoreCounts {
    return { running: [...this.own.values()].filter(({ isRunning }) => isRunning).length, retained: 0 };
  }

  async knows(locator: string): Promise<boolean> {
    const key = metaKey(locator);
    return (await orStreamsUnavailable(this.redis.run(key, (client) => client.hexists(key, 'gen')))) === 1;
  }

  async claim(key: RequestKey, requestBytes: number): Promise<Claim> {
    const log = new StreamLog(this.memory, requestBytes, key.accountId);
    try {
      const claim = await orStreamsUnavailable(this.claimFor(key, log));
      if (claim.outcome !== 'new') log.release();
      return claim;
    } catch (error) {
      log.release();
      throw error;
    }
  }

  async find(address: StreamAddress, accountId: string): Promise<StoredStream | undefined> {
    const { locator, secret } = address;
    const [generation, found] = await orStreamsUnavailable(
      this.redis.run(metaKey(locator), (client) => client.hmget(metaKey(locator), 'gen', 'check')),
    );
    if (generation == null || found == null) return undefined;
    if (!isSame(Buffer.from(found), Buffer.from(checkOf(secret, accountId)))) return undefined;
    return this.streamAt(address, generation);
  }

  /** Runs in this hook, because the connection to Redis may be closed before `onApplicationShutdown` is called. */
  async beforeApplicationShutdown(): Promise<void> {
    const stored = Promise.all([...this.own.values()].map(({ stored }) => stored));
    await withTimeout(stored, FLUSH_LIMIT_MS, () => new Error('no answer')).catch(() => undefined);
    for (const stream of this.own.values()) stream.stop();
  }

  private async claimFor({ accountId, locator, proof }: RequestKey, log: StreamLog): Promise<Claim> {
    const [generation, secret] = [randomUUID(), newSecret()];
    const claimed: ClaimedStream = {
      address: { locator, secret },
      accountId,
      generation,
      keys: streamKeys(locator, generation),
      wrap: new StreamCipher(proof, generation, WRAP).seal(secret, generation).toString('base64'),
      check: checkOf(secret, accountId),
    };
    const readerId = randomUUID();
    const [found, wrap] = await this.take(claimed, readerId);
    if (found === REFUSED) throw unavailable();
    if (found === undefined || wrap === undefined) {
      const stream = this.begin(claimed, log);
      return { outcome: 'new', stream, reading: stream.addReader(readerId) };
    }
    const unwrapped = new StreamCipher(proof, found, WRAP).open(Buffer.from(wrap, 'base64'), found);
    if (unwrapped === undefined) return { outcome: 'conflict' };
    return { outcome: 'found', stream: this.streamAt({ locator, secret: unwrapped }, found) };
  }

  /** Returns the generation and wrap of the stream that has the key, or nothing. */
  private async take(claimed: ClaimedStream, readerId: string): Promise<(string | undefined)[]> {
    const { keys, generation, wrap, check } = claimed;
    const mayTake = this.tools.maySettle(keys) ? '1' : '0';
    const args = [generation, wrap, check, String(this.tools.runningMs), 'waiting', mayTake, readerId];
    try {
      return (await this.redis.run(keys.meta, (client) =>
        CLAIM.run(client, [keys.meta, keys.readers], args),
      )) as string[];
    } catch (error) {
      // Redis may have taken the key although the reply did not arrive.
      if (!wasNotSent(error)) this.tools.release(claimed, '');
      throw error;
    }
  }

  private begin(claimed: ClaimedStream, log: StreamLog): RedisOwnStream {
    const { keys } = claimed;
    const stream = new RedisOwnStream(claimed, log, this.tools, () => {
      this.own.delete(keys.log);
      if (log.hasStarted && log.ending !== undefined) this.retained.add(claimed, log.bytes);
    });
    this.own.set(keys.log, stream);
    return stream;
  }

  private streamAt(address: StreamAddress, generation: string): StoredStream {
    const keys = streamKeys(address.locator, generation);
    const own = this.own.get(keys.log);
    return own?.isRunning === true ? own : new RedisRemoteStream(address, { keys, generation }, this.tools);
  }
}

/** Returns a text that shows the owner of the secret, and the account. Redis cannot derive the secret from the text. */
function checkOf(secret: Buffer, accountId: string): string {
  return derive(secret, accountId, 'chat durable stream: check').toString('base64');
}
