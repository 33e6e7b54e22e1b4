import type { OnApplicationShutdown } from '@nestjs/common';
import { elapsedMs, ServiceError, startTimer } from '../../../plugin-api/core/common.js';
import { isSame, newSecret, streamId, type RequestKey, type StreamAddress } from '../stream-identity.js';
import { LogSource } from '../log/log-reader.js';
import { evictedStream, StreamLog, type Ending } from '../log/stream-log.js';
import type { StreamMemory } from '../log/stream-memory.js';
import {
  MAX_READERS,
  once,
  StreamStore,
  tooManyReaders,
  type Claim,
  type StoredStream,
  type OwnStream,
  type StoreCounts,
  type StreamReading,
} from './stream-store.js';

/** Keeps streams in the memory of this process. {@link StreamMemory} decides which stream is dropped when the memory is full. */
export class MemoryStreamStore extends StreamStore implements OnApplicationShutdown {
  readonly isShared = false;
  private readonly streams = new Map<string, MemoryStream>();
  /** The streams that have ended, with the time of their end, the oldest first. */
  private readonly ended = new Map<MemoryStream, number>();
  private timer: NodeJS.Timeout | undefined;

  /** @param retentionMs how long a stream is kept after its end. */
  constructor(
    private readonly memory: StreamMemory,
    private readonly retentionMs: number,
  ) {
    super();
  }

  get counts(): StoreCounts {
    return { running: this.streams.size - this.ended.size, retained: this.ended.size };
  }

  knows(locator: string): Promise<boolean> {
    return Promise.resolve(this.streams.has(locator));
  }

  claim(key: RequestKey, requestBytes: number): Promise<Claim> {
    return new Promise((resolve) => {
      resolve(this.claimNow(key, requestBytes));
    });
  }

  find({ locator, secret }: StreamAddress, accountId: string): Promise<StoredStream | undefined> {
    const stream = this.streams.get(locator);
    const isFound = stream?.accountId === accountId && isSame(stream.address.secret, secret);
    return Promise.resolve(isFound ? stream : undefined);
  }

  onApplicationShutdown(): void {
    clearTimeout(this.timer);
  }

  private claimNow({ locator, accountId, proof }: RequestKey, requestBytes: number): Claim {
    const stream = this.streams.get(locator);
    if (stream !== undefined) {
      return isSame(stream.proof, proof) ? { outcome: 'found', stream } : { outcome: 'conflict' };
    }
    const log = new StreamLog(this.memory, requestBytes, accountId);
    const claimed = new MemoryStream({ locator, secret: newSecret() }, accountId, proof, log, {
      ended: (over) => {
        this.retain(over);
      },
      dropped: (dropped) => {
        this.remove(locator, dropped);
      },
    });
    this.streams.set(locator, claimed);
    return { outcome: 'new', stream: claimed, reading: claimed.enterNow() };
  }

  private retain(stream: MemoryStream): void {
    this.ended.set(stream, elapsedMs());
    this.dropLater();
  }

  private remove(locator: string, stream: MemoryStream): void {
    if (this.streams.get(locator) === stream) this.streams.delete(locator);
    this.ended.delete(stream);
  }

  private dropLater(): void {
    const [first] = this.ended.values();
    if (first === undefined) return;
    this.timer ??= startTimer(
      () => {
        this.timer = undefined;
        this.dropExpired();
        this.dropLater();
      },
      Math.max(0, first + this.retentionMs - elapsedMs()),
    ).unref();
  }

  private dropExpired(): void {
    const limit = elapsedMs() - this.retentionMs;
    for (const [stream, endedAt] of this.ended) {
      if (endedAt > limit) return;
      stream.drop();
    }
  }
}

interface Fate {
  readonly ended: (stream: MemoryStream) => void;
  readonly dropped: (stream: MemoryStream) => void;
}

class MemoryStream implements OwnStream {
  readonly id: string;
  onStop: (reason: ServiceError) => void = () => undefined;
  private readerCount = 0;
  private isDropped = false;
  private readonly over: Promise<void>;
  private resolveOver!: () => void;

  constructor(
    readonly address: StreamAddress,
    readonly accountId: string,
    readonly proof: Buffer,
    readonly log: StreamLog,
    private readonly fate: Fate,
  ) {
    this.id = streamId(address);
    this.over = new Promise((resolve) => {
      this.resolveOver = resolve;
    });
    log.onEvicted = () => {
      const { code, message } = evictedStream();
      this.onStop(evictedStream());
      void this.end({ kind: 'failed', code, message });
      this.drop();
    };
  }

  get readers(): number {
    return this.readerCount;
  }

  enter(): Promise<StreamReading> {
    return new Promise((resolve) => {
      resolve(this.enterNow());
    });
  }

  enterNow(): StreamReading {
    if (this.readerCount >= MAX_READERS) throw tooManyReaders();
    this.readerCount += 1;
    const source = new LogSource(this.log);
    const leave = once(() => {
      source.close();
      this.readerCount -= 1;
      if (this.isDropped && this.readerCount === 0) this.log.release();
    });
    return { source, leave };
  }

  begin(head: unknown): Promise<void> {
    this.log.begin(head);
    return Promise.resolve();
  }

  end(ending: Ending): Promise<Ending | undefined> {
    if (this.log.ending === undefined) {
      this.log.end(ending);
      if (!this.isDropped) this.fate.ended(this);
      this.resolveOver();
    }
    return Promise.resolve(this.log.ending);
  }

  async cancel(): Promise<void> {
    if (this.log.ending !== undefined) return;
    this.onStop(new ServiceError('cancelled', 'The stream was cancelled.'));
    await this.over;
  }

  forget(): Promise<void> {
    if (this.log.ending !== undefined) this.drop();
    return Promise.resolve();
  }

  abandon(reason: Error): void {
    this.drop();
    this.log.abandon(reason);
    this.resolveOver();
  }

  drop(): void {
    if (this.isDropped) return;
    this.isDropped = true;
    this.fate.dropped(this);
    // A reader can still hold the text for a while.
    if (this.readerCount === 0) this.log.release();
  }
}
