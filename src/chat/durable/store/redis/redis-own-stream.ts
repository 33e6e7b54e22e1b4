import { ServiceError } from '../../../../common/service-error.js';
import type { RedisConnection } from '../../../../redis/redis-connection.js';
import { streamId, type StreamAddress } from '../../identity/stream-identity.js';
import { evictedStream, type StreamLog } from '../../log/stream-log.js';
import { once, type OwnStream } from '../stream-store.js';
import { LogWriter, type WriterTarget } from './log-writer.js';
import type { ReaderSlots } from './reader-slots.js';
import { StreamCipher } from './stream-cipher.js';
import { sealedFailure, writtenEntry } from './stream-entry.js';
import type { StreamKeys } from './stream-keys.js';
import { ABANDON, DROP, RESTORE, WRITE, type Restored, type StreamState } from './stream-scripts.js';

/** What Redis needs to know of a claimed stream. */
export interface ClaimedStream {
  readonly address: StreamAddress;
  readonly accountId: string;
  readonly generation: string;
  readonly keys: StreamKeys;
  readonly owner: string;
  readonly wrap: string;
  readonly check: string;
}

export interface RetentionTimes {
  /** How long Redis keeps a stream that runs, without a sign of its owner. */
  readonly runningMs: number;
  readonly retentionMs: number;
}

/** A stream that this process generates. Its readers on this replica read its log, and the others read Redis. */
export class RedisOwnStream implements OwnStream, WriterTarget {
  readonly id: string;
  onStop: (reason: ServiceError) => void = () => undefined;
  private readonly cipher: StreamCipher;
  private readonly writer: LogWriter;
  private localReaders = 0;
  private isOver = false;
  private keptAt = performance.now();
  private isDropped = false;

  /** @param onOver called once, when Redis has everything or needs nothing more. */
  constructor(
    readonly claimed: ClaimedStream,
    readonly log: StreamLog,
    private readonly redis: RedisConnection,
    private readonly slots: ReaderSlots,
    private readonly times: RetentionTimes,
    private readonly onOver: () => void,
  ) {
    this.id = streamId(claimed.address);
    this.cipher = new StreamCipher(claimed.address.secret, claimed.generation, 'text');
    // Redis still gets the text. The other replicas serve it.
    log.onEvicted = () => {
      this.onStop(evictedStream());
    };
    this.writer = new LogWriter(log, this, times.retentionMs);
  }

  /** Resolves when Redis has everything, or when there is nothing more to write. */
  get stored(): Promise<void> {
    return this.writer.done;
  }

  async enter(): Promise<() => void> {
    return this.countLocal(await this.slots.enter(this.claimed.keys, this.claimed.generation));
  }

  /** Counts the reader for whom the stream was claimed. */
  enterFirst(readerId: string): () => void {
    return this.countLocal(this.slots.hold(this.claimed.keys.readers, readerId));
  }

  async cancel(): Promise<void> {
    if (this.log.ending !== undefined) return;
    this.onStop(new ServiceError('cancelled', 'The stream was cancelled.'));
    await this.writer.done;
  }

  readers(): Promise<number> {
    return this.slots.count(this.claimed.keys.readers);
  }

  abandon(reason: Error): void {
    const { keys, generation } = this.claimed;
    this.log.abandon(reason);
    this.writer.stop();
    const args = [generation, sealedFailure(this.cipher, reason)];
    this.redis
      .runWithoutTimeout(keys.meta, (client) => ABANDON.run(client, [keys.meta, keys.text], args))
      .catch(() => undefined);
  }

  drop(): void {
    this.isDropped = true;
  }

  async write(offset: number, text: string, isLast: boolean): Promise<StreamState> {
    const { keys, generation } = this.claimed;
    const { runningMs, retentionMs } = this.times;
    const entry = writtenEntry(this.cipher, offset, text, isLast ? this.log.ending : undefined);
    const args = [generation, isLast ? 'ended' : 'running', String(isLast ? retentionMs : runningMs), ...entry];
    const state = await this.redis.runWithoutTimeout(keys.meta, (client) =>
      WRITE.run(client, [keys.meta, keys.text], args),
    );
    if (isLast && this.isDropped) {
      const all = [keys.meta, keys.text, keys.readers];
      await this.redis.runWithoutTimeout(keys.meta, (client) => DROP.run(client, all, [generation]));
    }
    return state as StreamState;
  }

  async restore(state: 'waiting' | 'running'): Promise<Restored> {
    const { keys, generation, owner, wrap, check } = this.claimed;
    if (this.isDropped) return 'taken';
    const args = [generation, owner, wrap, check, String(this.times.runningMs), state];
    const restored = this.redis.runWithoutTimeout(keys.meta, (client) =>
      RESTORE.run(client, [keys.meta, keys.text], args),
    );
    return (await restored) as Restored;
  }

  fenced(): void {
    if (this.log.ending !== undefined) return;
    this.onStop(
      new ServiceError('interrupted', 'Another replica has ended this stream, because this one did not answer.'),
    );
  }

  over(): void {
    this.isOver = true;
    this.releaseUnread();
    this.onOver();
  }

  /**
   * Keeps the stream in Redis although it has no text for a long time. Writes it anew when Redis has lost it, and after an
   * outage, because a failover loses what was written last.
   */
  async keepAlive(): Promise<void> {
    const { keys } = this.claimed;
    const { runningMs } = this.times;
    const now = performance.now();
    const hadOutage = this.redis.availableForMs(keys.meta) < now - this.keptAt;
    const [isThere] = await this.redis.run(keys.meta, (client) =>
      Promise.all([client.pExpire(keys.meta, runningMs), client.pExpire(keys.text, runningMs)]),
    );
    this.keptAt = now;
    if (isThere === 0 || hadOutage) this.writer.writeAnew();
  }

  private countLocal(leave: () => void): () => void {
    this.localReaders += 1;
    return once(() => {
      this.localReaders -= 1;
      this.releaseUnread();
      leave();
    });
  }

  private releaseUnread(): void {
    if (this.isOver && this.localReaders === 0) this.log.release();
  }
}
