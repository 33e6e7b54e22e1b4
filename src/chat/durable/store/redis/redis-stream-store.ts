import type { BeforeApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { withTimeout } from '../../../../common/timers/with-timeout.js';
import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { RedisTimeout } from '../../../../redis/redis-errors.js';
import { derive, isSame, newSecret, type RequestKey, type StreamAddress } from '../../identity/stream-identity.js';
import { StreamLog } from '../../log/stream-log.js';
import type { StreamMemory } from '../../log/stream-memory.js';
import { StreamStore, type Claim, type StoredStream, type StoreCounts } from '../stream-store.js';
import { Cancellations } from './cancellations.js';
import { RetainedStreams } from './retained-streams.js';
import { ReaderSlots } from './reader-slots.js';
import { orUnavailable, unavailable } from './redis-availability.js';
import { RedisOwnStream, type ClaimedStream, type RetentionTimes } from './redis-own-stream.js';
import { RedisRemoteStream } from './redis-remote-stream.js';
import { ReplicaPresence } from './replica-presence.js';
import { StreamCipher } from './stream-cipher.js';
import { StreamFollower } from './stream-follower.js';
import { metaKey, streamKeys } from './stream-keys.js';
import { StreamMirrors } from './stream-mirrors.js';
import { ABANDON, CLAIM, DROP, REFUSED } from './stream-scripts.js';

/** A dead replica's stream is kept for its readers this much longer than a stream that has ended. */
const SPARE_MS = 60_000;
const KEEP_ALIVE_EVERY_MS = 20_000;
/**
 * After an outage, Redis may have lost all streams. New claims wait until the replicas have restored the streams that run,
 * so that no answer is generated twice.
 */
const RESTORED_WITHIN_MS = 3_000;
const FLUSH_LIMIT_MS = 2_000;
const WRAP = 'secret';

/** Keeps streams in Redis, so that every replica can serve them. Redis sees only sealed texts. */
export class RedisStreamStore extends StreamStore implements BeforeApplicationShutdown {
  readonly isShared = true;
  private readonly own = new Map<string, RedisOwnStream>();
  private readonly presence: ReplicaPresence;
  private readonly slots: ReaderSlots;
  private readonly follower: StreamFollower;
  private readonly cancellations: Cancellations;
  private readonly mirrors: StreamMirrors;
  private readonly times: RetentionTimes;
  private readonly retained: RetainedStreams;
  /** The claims that Redis has not answered. */
  private claims = 0;
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly redis: RedisConnection,
    private readonly memory: StreamMemory,
    retentionMs: number,
  ) {
    super();
    this.times = { retentionMs, runningMs: retentionMs + SPARE_MS };
    this.retained = new RetainedStreams(memory.limit, retentionMs, ({ keys, generation }) => {
      this.redis
        .runWithoutTimeout(keys.meta, (client) => DROP.run(client, [keys.meta, keys.text, keys.readers], [generation]))
        .catch(() => undefined);
    });
    this.presence = new ReplicaPresence(
      redis,
      () => void this.keepAlive(),
      // When Redis is unavailable, the next beat reads the inbox.
      () => void this.cancellations.read().catch(() => undefined),
    );
    this.slots = new ReaderSlots(redis);
    this.follower = new StreamFollower(redis);
    this.cancellations = new Cancellations(redis, this.presence.id, (textKey) => {
      this.own
        .get(textKey)
        ?.cancel()
        .catch(() => undefined);
    });
    this.mirrors = new StreamMirrors(redis, this.follower, memory, retentionMs);
    redis.whenBack(() => void this.keepAlive());
  }

  get counts(): StoreCounts {
    return { running: this.own.size, retained: 0 };
  }

  async knows(locator: string): Promise<boolean> {
    return (await orUnavailable(this.redis.run(metaKey(locator), (client) => client.exists(metaKey(locator))))) === 1;
  }

  async claim(key: RequestKey, requestBytes: number): Promise<Claim> {
    const log = new StreamLog(this.memory, requestBytes, key.accountId);
    this.claims += 1;
    try {
      const claim = await orUnavailable(this.claimFor(key, log));
      if (claim.outcome !== 'new') log.release();
      return claim;
    } catch (error) {
      log.release();
      throw error;
    } finally {
      this.claims -= 1;
      this.hideIfIdle();
    }
  }

  async find(address: StreamAddress, accountId: string): Promise<StoredStream | undefined> {
    const { locator, secret } = address;
    const [generation, owner, found] = await orUnavailable(
      this.redis.run(metaKey(locator), (client) => client.hmGet(metaKey(locator), ['gen', 'owner', 'check'])),
    );
    if (generation == null || owner == null || found == null) return undefined;
    if (!isSame(Buffer.from(found), Buffer.from(checkOf(secret, accountId)))) return undefined;
    return this.streamAt(address, accountId, generation, owner);
  }

  /** Runs in this hook, because the connection to Redis may be closed before `onApplicationShutdown` is called. */
  async beforeApplicationShutdown(): Promise<void> {
    const ended = [...this.own.values()].filter(({ log }) => log.ending !== undefined);
    const stored = Promise.all(ended.map((stream) => stream.stored));
    await withTimeout(stored, FLUSH_LIMIT_MS, () => new Error('no answer')).catch(() => undefined);
    clearInterval(this.timer);
    this.presence.hide();
    this.slots.stop();
    this.mirrors.stop();
    this.follower.close();
  }

  private async claimFor(key: RequestKey, log: StreamLog): Promise<Claim> {
    const { accountId, locator, proof } = key;
    const [generation, secret] = [randomUUID(), newSecret()];
    const claimed: ClaimedStream = {
      address: { locator, secret },
      accountId,
      generation,
      keys: streamKeys(locator, generation),
      owner: this.presence.id,
      wrap: new StreamCipher(proof, generation, WRAP).seal(secret, generation).toString('base64'),
      check: checkOf(secret, accountId),
    };
    await this.presence.show();
    const readerId = this.slots.newId();
    const [found, owner, wrap] = await this.take(claimed, readerId);
    if (found === REFUSED) throw unavailable();
    if (found === undefined || owner === undefined || wrap === undefined) return this.begin(claimed, log, readerId);

    const unwrapped = new StreamCipher(proof, found, WRAP).open(Buffer.from(wrap, 'base64'), found);
    if (unwrapped === undefined) return { outcome: 'conflict' };
    const address = { locator, secret: unwrapped };
    return { outcome: 'found', stream: this.streamAt(address, accountId, found, owner) };
  }

  /** Returns the generation, owner and wrap of the stream that has the key, or nothing. */
  private async take(claimed: ClaimedStream, readerId: string): Promise<(string | undefined)[]> {
    const { keys, generation, owner, wrap, check } = claimed;
    const mayTake = this.redis.availableForMs(keys.meta) >= RESTORED_WITHIN_MS ? '1' : '0';
    const args = [generation, owner, wrap, check, String(this.times.runningMs), readerId, mayTake];
    try {
      return (await this.redis.run(keys.meta, (client) =>
        CLAIM.run(client, [keys.meta, keys.readers], args),
      )) as string[];
    } catch (error) {
      if (!(error instanceof RedisTimeout) || error.wasSent) {
        // Redis may have taken the key although the reply did not arrive.
        this.redis
          .runWithoutTimeout(keys.meta, (client) => ABANDON.run(client, [keys.meta, keys.text], [generation, '']))
          .catch(() => undefined);
      }
      throw error;
    }
  }

  private begin(claimed: ClaimedStream, log: StreamLog, readerId: string): Claim {
    const { text } = claimed.keys;
    const stream = new RedisOwnStream(claimed, log, this.redis, this.slots, this.times, () => {
      this.own.delete(text);
      if (log.hasBegun && log.ending !== undefined) this.retained.add(claimed, log.bytes);
      this.hideIfIdle();
    });
    this.own.set(text, stream);
    this.timer ??= setInterval(() => void this.keepAlive(), KEEP_ALIVE_EVERY_MS).unref();
    return { outcome: 'new', stream, leave: stream.enterFirst(readerId) };
  }

  private streamAt(address: StreamAddress, accountId: string, generation: string, owner: string): StoredStream {
    const keys = streamKeys(address.locator, generation);
    const own = this.own.get(keys.text);
    if (own !== undefined) return own;
    const { mirrors, slots, cancellations } = this;
    const stream = { accountId, keys, generation, secret: address.secret, owner };
    return new RedisRemoteStream(address, stream, { mirrors, slots, cancellations });
  }

  /** Other replicas need not see this one while it has no streams and claims none. */
  private hideIfIdle(): void {
    if (this.own.size > 0 || this.claims > 0) return;
    this.presence.hide();
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private async keepAlive(): Promise<void> {
    // When Redis is unavailable, the next round tries again.
    await Promise.allSettled([...this.own.values()].map((stream) => stream.keepAlive()));
  }
}

/** Returns a text that shows the owner of the secret, and the account. Redis cannot derive the secret from the text. */
function checkOf(secret: Buffer, accountId: string): string {
  return derive(secret, accountId, 'chat durable stream: check').toString('base64');
}
