/** A stream as the memory sees it. */
export interface Evictable {
  /** Whether somebody reads the stream. Among the ended streams of an account, these are evicted last. */
  readonly isRead: boolean;
  /** Ends the stream and its readers, because its account uses the most memory. The memory is already released. */
  evict(): void;
}

/** The use of one account. */
export interface AccountUse {
  bytes: number;
  runningBytes: number;
  readonly running: Set<MemoryHold>;
  /** The streams that have ended, the oldest first. */
  readonly ended: Set<MemoryHold>;
}

/** The memory of all streams. */
interface AllMemory {
  take(bytes: number): void;
  release(bytes: number): void;
  closed(): void;
}

/** The memory of one stream. It counts for the account of the stream. */
export class MemoryHold {
  bytes = 0;
  hasEnded = false;
  private isClosed = false;

  constructor(
    readonly stream: Evictable,
    private readonly account: AccountUse,
    private readonly all: AllMemory,
  ) {
    account.running.add(this);
  }

  /** @throws {ServiceError} `unavailable` when the memory is full. Nothing is taken then. */
  take(bytes: number): void {
    if (this.isClosed) return;
    this.all.take(bytes);
    this.count(bytes);
  }

  release(bytes: number): void {
    if (this.isClosed) return;
    this.all.release(bytes);
    this.count(-bytes);
  }

  /** The stream has ended. From now on, it is evicted when an account needs the memory. */
  end(): void {
    if (this.isClosed || this.hasEnded) return;
    const { account } = this;
    this.hasEnded = true;
    account.running.delete(this);
    account.runningBytes -= this.bytes;
    account.ended.add(this);
  }

  /** Releases everything. Further calls of any method have no effect. */
  close(): void {
    if (this.isClosed) return;
    this.release(this.bytes);
    this.isClosed = true;
    const { account } = this;
    account.running.delete(this);
    account.ended.delete(this);
    this.all.closed();
  }

  /** Releases the memory, and ends the stream and its readers. */
  evict(): void {
    this.close();
    this.stream.evict();
  }

  private count(bytes: number): void {
    this.bytes += bytes;
    this.account.bytes += bytes;
    if (!this.hasEnded) this.account.runningBytes += bytes;
  }
}
