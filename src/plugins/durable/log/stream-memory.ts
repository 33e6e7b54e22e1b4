import { Inject, Injectable } from '@nestjs/common';
import { ServiceError, ShedLoad } from '../../../plugin-api/core/common.js';
import { CONFIG, type Config } from '../../../plugin-api/core/config.js';

const RETRY_AFTER_SECONDS = 5;
/** The running streams of one account may hold this share of the memory when a new stream begins. */
const RUNNING_SHARE = 0.5;

/** A stream as the memory sees it. */
export interface Evictable {
  /** Whether somebody reads the stream. Among the ended streams of an account, these are evicted last. */
  readonly isRead: boolean;
  /** Ends the stream and its readers, because its account uses the most memory. The memory is already released. */
  evict(): void;
}

/** The use of one account. */
interface AccountMemory {
  bytes: number;
  runningBytes: number;
  readonly running: Set<MemoryReservation>;
  /** The streams that have ended, the oldest first. */
  readonly ended: Set<MemoryReservation>;
}

/** The memory of all streams. */
interface AllMemory {
  take(bytes: number): void;
  release(bytes: number): void;
  closed(): void;
}

/** The memory of one stream. It counts for the account of the stream. */
export class MemoryReservation {
  bytes = 0;
  hasEnded = false;
  private isClosed = false;

  constructor(
    readonly stream: Evictable,
    private readonly account: AccountMemory,
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

/**
 * The memory of this process for durable streams (STREAM_MEMORY_MB), with a share for each account.
 *
 * When the memory is full, the account that uses the most gives way: first its ended streams, the oldest first. If the
 * account has no ended stream, it is refused. If another account needs the memory, one running stream of the account ends.
 * An account that uses at most an equal share (the memory divided by the number of accounts) therefore loses nothing.
 */
@Injectable()
export class StreamMemory {
  private total = 0;
  private readonly accounts = new Map<string, AccountMemory>();
  /** In bytes. */
  readonly limit: number;

  constructor(
    @Inject(CONFIG) { streamMemoryBytes }: Pick<Config, 'streamMemoryBytes'>,
    private readonly shedLoad: ShedLoad,
  ) {
    this.limit = streamMemoryBytes;
  }

  /** Bytes in use. */
  get used(): number {
    return this.total;
  }

  /**
   * Opens the memory of a new stream.
   *
   * @throws {ServiceError} `unavailable` when the memory is full, or when the running streams of the account fill their share.
   */
  open(accountId: string, bytes: number, stream: Evictable): MemoryReservation {
    const account = this.accounts.get(accountId) ?? {
      bytes: 0,
      runningBytes: 0,
      running: new Set(),
      ended: new Set(),
    };
    // One stream alone may always begin.
    if (account.running.size > 0 && account.runningBytes + bytes > this.limit * RUNNING_SHARE) throw this.full();
    this.accounts.set(accountId, account);
    const hold = new MemoryReservation(stream, account, {
      take: (more) => {
        this.makeRoom(account, more);
        this.total += more;
      },
      release: (less) => {
        this.total -= less;
      },
      closed: () => {
        if (account.running.size + account.ended.size === 0) this.accounts.delete(accountId);
      },
    });
    try {
      hold.take(bytes);
    } catch (error) {
      hold.close();
      throw error;
    }
    return hold;
  }

  private makeRoom(requester: AccountMemory, bytes: number): void {
    while (this.total + bytes > this.limit) {
      const victim = this.victim(requester, bytes);
      if (victim === undefined) throw this.full();
      if (!victim.hasEnded) this.shedLoad.count('stream_memory');
      victim.evict();
    }
  }

  /** Returns the stream to evict, or `undefined` when the requester must give way and has no ended stream. */
  private victim(requester: AccountMemory, bytes: number): MemoryReservation | undefined {
    const equalShare = this.limit / this.accounts.size;
    const useOf = (account: AccountMemory): number => account.bytes + (account === requester ? bytes : 0);
    let greediest = requester;
    let evictable: AccountMemory | undefined;
    for (const account of this.accounts.values()) {
      const use = useOf(account);
      if (use > useOf(greediest)) greediest = account;
      if (account.ended.size === 0 || use <= equalShare) continue;
      if (evictable === undefined || use > useOf(evictable)) evictable = account;
    }
    if (evictable !== undefined) return oldestOf(evictable);
    return greediest === requester ? undefined : largestOf(greediest);
  }

  private full(): ServiceError {
    this.shedLoad.count('stream_memory');
    return new ServiceError('unavailable', 'This process cannot keep more text of durable streams. Try again.', {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

/** Returns the stream that ended first. Prefers the streams without a reader. */
function oldestOf({ ended }: AccountMemory): MemoryReservation | undefined {
  const [first] = ended;
  for (const hold of ended) if (!hold.stream.isRead) return hold;
  return first;
}

function largestOf({ running }: AccountMemory): MemoryReservation | undefined {
  let largest: MemoryReservation | undefined;
  for (const hold of running) if (largest === undefined || hold.bytes > largest.bytes) largest = hold;
  return largest;
}
