import { elapsedMs, ServiceError, startTimer } from '../../../../plugin-api/core/common.js';
import { wasNotSent } from '../../../../plugin-api/core/redis.js';
import { streamId } from '../../stream-identity.js';
import { LogSource } from '../../log/log-reader.js';
import { evictedStream, type Ending, type StreamLog } from '../../log/stream-log.js';
import { once, type OwnStream, type StreamReading } from '../stream-store.js';
import { LogEntries, StreamCipher } from './log-entries.js';
import { PendingEnding } from './pending-ending.js';
import { INTERRUPTED, unavailable, type ClaimedStream, type RedisStreamTools } from './redis-stream-tools.js';
import { CLAIM, WRITE, type WriteReply } from './stream-scripts.js';

/** Text is written after this time, or as soon as there is a batch. In milliseconds and UTF-16 units. */
const WRITE_AFTER_MS = 50;
const BATCH_LENGTH = 4 * 1024;
/** Several times in the life of a claim, so that a renewal may fail. */
const RENEW_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 250;
/** How long the head of an answer waits until Redis confirms the claim. */
const BEGIN_LIMIT_MS = 10_000;

/**
 * A stream that this process generates. Its readers on this replica read its log, and the others read Redis. One command at a
 * time is on its way to Redis: it renews the claim, and writes what the log has.
 *
 * The head of the answer waits until Redis confirms the claim, and the ending waits until Redis has taken it. So an answer whose
 * claim has expired never begins, and all readers get the same ending.
 */
export class RedisOwnStream implements OwnStream {
  readonly id: string;
  readers = 1;
  onStop: (reason: ServiceError) => void = () => undefined;
  private readonly cipher: StreamCipher;
  private readonly readerIds = new Set<string>();
  private readonly unfollow: () => void;
  /** The number of entries that Redis has. */
  private written = 0;
  private hasStarted = false;
  private beginning: { confirm(): void; refuse(reason: Error): void } | undefined;
  private isDropped = false;
  /** True when there is nothing more to write. */
  private isOver = false;
  private onStored: () => void = () => undefined;
  private isWriting = false;
  private timer: NodeJS.Timeout | undefined;
  private timerAt = Infinity;
  private confirmedAt = elapsedMs();
  private readonly entries: LogEntries;
  private readonly pending: PendingEnding;

  /** @param onOver called when Redis has everything or needs nothing more, and no reader of this process is left. */
  constructor(
    readonly claimed: ClaimedStream,
    readonly log: StreamLog,
    private readonly tools: RedisStreamTools,
    private readonly onOver: () => void,
  ) {
    this.id = streamId(claimed.address);
    this.cipher = new StreamCipher(claimed.address.secret, claimed.generation, 'text');
    this.entries = new LogEntries(log, this.cipher);
    this.pending = new PendingEnding(log);
    log.onEvicted = () => {
      this.onStop(evictedStream());
    };
    this.unfollow = log.follow(() => {
      this.writeSoon();
    });
    this.writeIn(RENEW_EVERY_MS);
  }

  get isRunning(): boolean {
    return !this.isOver;
  }

  /** Resolves when Redis has the ending of a stream that has ended. */
  get stored(): Promise<void> {
    if (this.isOver || this.pending.ending === undefined) return Promise.resolve();
    return new Promise((resolve) => {
      this.onStored = resolve;
    });
  }

  /** Writes nothing more. */
  stop(): void {
    this.readerIds.clear();
    this.pending.stop();
    this.close();
  }

  async enter(): Promise<StreamReading> {
    const { keys, generation } = this.claimed;
    return this.addReader(await this.tools.takeSlot(keys, generation));
  }

  /** @param readerId has a slot in Redis. */
  addReader(readerId: string): StreamReading {
    const source = new LogSource(this.log);
    this.readerIds.add(readerId);
    this.readers = Math.max(this.readers, this.readerIds.size);
    const leave = once(() => {
      source.close();
      this.readerIds.delete(readerId);
      this.readers -= 1;
      this.tools.releaseSlot(this.claimed.keys, readerId);
      this.closeIfUnread();
    });
    return { source, leave };
  }

  begin(head: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.isOver) {
        reject(unavailable());
        return;
      }
      const limit = startTimer(() => {
        this.lose();
      }, BEGIN_LIMIT_MS);
      this.beginning = {
        confirm: () => {
          clearTimeout(limit);
          resolve();
        },
        refuse: (reason) => {
          clearTimeout(limit);
          reject(reason);
        },
      };
      this.log.head = head;
      this.writeIn(0);
    });
  }

  end(ending: Ending): Promise<Ending | undefined> {
    const told = this.pending.begin(ending);
    this.writeIn(0);
    return told;
  }

  async cancel(): Promise<void> {
    if (this.isOver) return;
    this.onStop(new ServiceError('cancelled', 'The stream was cancelled.'));
    await this.tools.cancel(this.claimed.keys, this.claimed.generation);
  }

  forget(): Promise<void> {
    return this.tools.forget(this.claimed);
  }

  abandon(reason: Error): void {
    this.beginning = undefined;
    this.close();
    this.log.abandon(reason);
    this.tools.release(this.claimed, this.cipher.sealFailure(reason));
  }

  drop(): void {
    this.isDropped = true;
  }

  /** Writes the log again from the first entry that Redis has lost, for example after a failover. */
  checkNow(): void {
    this.writeIn(0);
  }

  private writeSoon(): void {
    if (this.hasStarted) this.writeIn(this.nextDelayMs());
  }

  private writeIn(delayMs: number): void {
    const at = elapsedMs() + delayMs;
    if (this.isWriting || this.timerAt <= at || (this.isOver && this.readerIds.size === 0)) return;
    clearTimeout(this.timer);
    this.timerAt = at;
    this.timer = startTimer(() => void this.write(), delayMs).unref();
  }

  private nextDelayMs(): number {
    const { entries, pending } = this;
    if (this.isOver) return RENEW_EVERY_MS;
    if (!this.hasStarted) return this.beginning === undefined ? RENEW_EVERY_MS : 0;
    if (pending.ending !== undefined || this.written < entries.count) return 0;
    if (entries.hasAll) return RENEW_EVERY_MS;
    return entries.count === 1 || entries.waitingLength >= BATCH_LENGTH ? 0 : WRITE_AFTER_MS;
  }

  private async write(): Promise<void> {
    this.timerAt = Infinity;
    this.isWriting = true;
    let hasFailed = false;
    try {
      await this.writeNext();
    } catch {
      // Redis is unavailable or slow.
      hasFailed = true;
      const now = elapsedMs();
      if (!this.hasStarted && now - this.confirmedAt >= BEGIN_LIMIT_MS) this.lose();
      if (now - this.pending.toldAt > this.tools.retentionMs) {
        this.pending.stop();
        this.close();
      }
    }
    this.isWriting = false;
    this.writeIn(hasFailed ? RETRY_AFTER_MS : this.nextDelayMs());
  }

  /** Sends one command. */
  private async writeNext(): Promise<void> {
    const { keys, generation } = this.claimed;
    const { retentionMs, runningMs } = this.tools;
    const [entry, isEnd] = this.nextEntry();
    const state = isEnd ? 'ended' : entry !== '' && this.written === 0 ? 'running' : '';
    const count = this.isOver || (entry === '' && !this.hasStarted) ? '' : String(this.written);
    const args = [generation, state, String(isEnd ? retentionMs : runningMs), count, entry, ...this.readerIds];
    const { pending } = this;
    const wasSent = pending.isSent;
    if (isEnd) pending.isSent = true;
    const sentAt = elapsedMs();
    const reply = await this.tools.redis[this.hasStarted ? 'runWithoutTimeout' : 'run'](
      keys.meta,
      (client) => WRITE.run(client, [keys.meta, keys.log, keys.readers], args) as Promise<WriteReply>,
    ).catch((error: unknown) => {
      if (wasNotSent(error)) pending.isSent = wasSent;
      throw error;
    });
    if (this.isOver) return;
    switch (reply[0]) {
      case 'ok':
        this.confirmedAt = sentAt;
        this.confirmed(entry !== '', isEnd, reply[1] === 1, reply[2]);
        break;
      case 'behind':
        if (isEnd) pending.isSent = false;
        this.written = reply[1];
        break;
      case 'gone':
        if (isEnd) pending.isSent = false;
        if (!this.hasStarted || !(await this.restore())) this.lose();
        break;
      case 'taken':
      case 'lost':
        this.lose();
    }
  }

  private confirmed(hasEntry: boolean, isEnd: boolean, isCancelled: boolean, readers: number): void {
    this.readers = Math.max(readers, this.readerIds.size);
    if (hasEntry) this.written += 1;
    if (isEnd) this.finish();
    else if (hasEntry && !this.hasStarted) {
      this.hasStarted = true;
      this.log.begin(this.log.head);
      this.beginning?.confirm();
    }
    if (isCancelled && this.pending.ending === undefined) {
      this.onStop(new ServiceError('cancelled', 'The stream was cancelled.'));
    }
  }

  /** Returns the next entry, or '' if there is nothing to write, and whether it is the ending. */
  private nextEntry(): readonly [entry: Buffer | '', isEnd: boolean] {
    if (this.isOver || (!this.hasStarted && this.beginning === undefined)) return ['', false];
    return this.entries.next(this.written, this.pending.ending);
  }

  /** Puts a stream that Redis has lost back. Returns false when another stream has the key. */
  private async restore(): Promise<boolean> {
    const { keys, generation, wrap, check } = this.claimed;
    if (this.isDropped) return false;
    const args = [generation, wrap, check, String(this.tools.runningMs), 'running', '1', ''];
    const [found] = (await this.tools.redis.runWithoutTimeout(keys.meta, (client) =>
      CLAIM.run(client, [keys.meta, keys.readers], args),
    )) as string[];
    return found === undefined;
  }

  /** Redis has the ending. */
  private finish(): void {
    if (this.isDropped) void this.tools.forget(this.claimed).catch(() => undefined);
    if (this.pending.ending !== undefined) this.pending.tell(this.pending.ending);
    this.close();
  }

  /** The claim is lost: another replica has ended this stream, or may generate the answer. */
  private lose(): void {
    if (this.isOver) return;
    const { hasStarted } = this;
    this.close();
    this.beginning?.refuse(unavailable());
    if (hasStarted) this.pending.tell(INTERRUPTED);
    this.onStop(new ServiceError('interrupted', 'This process has lost the claim on the stream.'));
  }

  private close(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.unfollow();
    this.onStored();
    this.closeIfUnread();
  }

  private closeIfUnread(): void {
    if (!this.isOver || this.readerIds.size > 0) return;
    clearTimeout(this.timer);
    this.log.release();
    this.onOver();
  }
}
