interface BatchLimits {
  readonly concurrentBatches: number;
  readonly keysPerBatch: number;
  readonly maxWaiters: number;
}

interface Waiter<V> {
  readonly key: string;
  readonly resolve: (value: V | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Loads values by key with a bounded number of concurrent batches. Keys that arrive while all batches run wait and share
 * the next batch. So the number of concurrent queries does not grow with the number of callers.
 */
export class BatchLoader<V> {
  private waiters: Waiter<V>[] = [];
  private running = 0;

  /** @param loadBatch loads many keys at once. A key that is missing in the result does not exist. */
  constructor(
    private readonly loadBatch: (keys: readonly string[]) => Promise<ReadonlyMap<string, V>>,
    private readonly limits: BatchLimits,
  ) {}

  get isFull(): boolean {
    return this.waiters.length >= this.limits.maxWaiters;
  }

  /**
   * Loads one key. Must not be called while {@link isFull} is `true`.
   *
   * @returns `undefined` when the key does not exist.
   * @throws the error of the batch.
   */
  load(key: string): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.waiters.push({ key, resolve, reject });
      this.beginBatch();
    });
  }

  private beginBatch(): void {
    if (this.waiters.length === 0 || this.running >= this.limits.concurrentBatches) return;
    this.running += 1;
    void this.run(this.waiters.splice(0, this.limits.keysPerBatch)).finally(() => {
      this.running -= 1;
      this.beginBatch();
    });
  }

  private async run(batch: readonly Waiter<V>[]): Promise<void> {
    try {
      const values = await this.loadBatch(batch.map(({ key }) => key));
      for (const { key, resolve } of batch) resolve(values.get(key));
    } catch (error) {
      // The other waiters would wait as long and fail as well, so they fail now.
      for (const { reject } of [...batch, ...this.waiters]) reject(error);
      this.waiters = [];
    }
  }
}
