import { KeyedCount } from '../counts/counters.js';

export interface SemaphoreLimits {
  /** How many tasks run at the same time. */
  readonly permits: number;
  /** How many tasks of one key run or wait at the same time. Default: no limit. */
  readonly perKey?: number;
  /** How many tasks of all keys may wait. Default: none. */
  readonly maxWaiters?: number;
}

/** Creates the error for a refused task: above the limit of its key, or because too many tasks of all keys wait. */
type RefusalOf = (limit: 'key' | 'all') => Error;

interface Waiter {
  readonly begin: () => void;
  readonly refuse: () => void;
}

/**
 * Limits how many tasks run at the same time, in total and per key, for example per account. Other tasks wait in a bounded
 * queue, in which the keys take turns: the first waiter of each key begins before the second waiter of any key. A full
 * queue makes room for a key with few waiters: it refuses the newest waiter of the key with the most waiters.
 */
export class KeyedSemaphore {
  private held = 0;
  /** The permits and waiters of each key. */
  private readonly admitted = new KeyedCount();
  /** The waiters by key. The key whose turn is next comes first. A key without waiters has no entry. */
  private readonly queues = new Map<string, Waiter[]>();

  constructor(
    private readonly limits: SemaphoreLimits,
    private readonly refusal: RefusalOf,
  ) {}

  /**
   * Runs the task as soon as a permit is free for its key.
   *
   * @throws the refusal when the key or the queue is full, and every error of the task.
   * @example const rows = await this.semaphore.run(accountId, () => this.reports.daily(accountId, from, to));
   */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    await this.acquire(key);
    try {
      return await task();
    } finally {
      this.admitted.add(key, -1);
      // The permit goes directly to the next waiter, so that no new task can take it first.
      if (!this.beginNext()) this.held -= 1;
    }
  }

  private async acquire(key: string): Promise<void> {
    const { permits, perKey = Infinity, maxWaiters = 0 } = this.limits;
    if (this.admitted.of(key) >= perKey) throw this.refusal('key');
    const isFull = this.held >= permits;
    if (isFull && this.admitted.total - this.held >= maxWaiters) this.makeRoomFor(key);
    this.admitted.add(key, 1);
    if (isFull) await this.turnOf(key);
    else this.held += 1;
  }

  private turnOf(key: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.queues.get(key) ?? [];
      queue.push({
        begin: resolve,
        refuse: () => {
          this.admitted.add(key, -1);
          reject(this.refusal('all'));
        },
      });
      this.queues.set(key, queue);
    });
  }

  /**
   * Refuses the newest waiter of the key with the most waiters. That key must still have at least as many waiters as `key`
   * has with its new task.
   *
   * @throws the refusal, when no key has so many waiters.
   */
  private makeRoomFor(key: string): void {
    const own = this.queues.get(key)?.length ?? 0;
    let longest: Waiter[] = [];
    for (const queue of this.queues.values()) if (queue.length > longest.length) longest = queue;
    if (longest.length <= own + 1) throw this.refusal('all');
    longest.pop()?.refuse();
  }

  private beginNext(): boolean {
    for (const [key, queue] of this.queues) {
      this.queues.delete(key);
      const next = queue.shift();
      // The key moves to the end of the order, behind all other keys.
      if (queue.length > 0) this.queues.set(key, queue);
      next?.begin();
      return true;
    }
    return false;
  }
}
