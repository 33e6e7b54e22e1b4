import { Inject, Injectable } from '@nestjs/common';
import { ServiceError } from '../../../common/service-error.js';
import { ShedLoad } from '../../../common/shed-load.js';
import { CONFIG, type Config } from '../../../config/config.js';
import { MemoryHold, type AccountUse, type Evictable } from './memory-hold.js';

const RETRY_AFTER_SECONDS = 5;
/** The running streams of one account may hold this share of the memory when a new stream begins. */
const RUNNING_SHARE = 0.5;

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
  private readonly accounts = new Map<string, AccountUse>();
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
  open(accountId: string, bytes: number, stream: Evictable): MemoryHold {
    const account = this.accounts.get(accountId) ?? {
      bytes: 0,
      runningBytes: 0,
      running: new Set(),
      ended: new Set(),
    };
    // One stream alone may always begin.
    if (account.running.size > 0 && account.runningBytes + bytes > this.limit * RUNNING_SHARE) throw this.full();
    this.accounts.set(accountId, account);
    const hold = new MemoryHold(stream, account, {
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

  private makeRoom(requester: AccountUse, bytes: number): void {
    while (this.total + bytes > this.limit) {
      const victim = this.victim(requester, bytes);
      if (victim === undefined) throw this.full();
      if (!victim.hasEnded) this.shedLoad.count('stream_memory');
      victim.evict();
    }
  }

  /** Returns the stream to evict, or `undefined` when the requester must give way and has no ended stream. */
  private victim(requester: AccountUse, bytes: number): MemoryHold | undefined {
    const equalShare = this.limit / this.accounts.size;
    const useOf = (account: AccountUse): number => account.bytes + (account === requester ? bytes : 0);
    let greediest = requester;
    let evictable: AccountUse | undefined;
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
function oldestOf({ ended }: AccountUse): MemoryHold | undefined {
  const [first] = ended;
  for (const hold of ended) if (!hold.stream.isRead) return hold;
  return first;
}

function largestOf({ running }: AccountUse): MemoryHold | undefined {
  let largest: MemoryHold | undefined;
  for (const hold of running) if (largest === undefined || hold.bytes > largest.bytes) largest = hold;
  return largest;
}
