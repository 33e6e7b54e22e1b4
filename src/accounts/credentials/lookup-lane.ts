export interface LaneLimits {
  readonly queriesAtOnce: number;
  readonly idsPerQuery: number;
  readonly idsWaiting: number;
}

interface Waiter<V> {
  readonly id: string;
  readonly resolve: (found: V | undefined) => void;
  readonly reject: (failure: unknown) => void;
}

/**
 * Looks up ids with a bounded number of queries at a time. Ids that arrive while all queries run wait and share the next
 * query. So the number of concurrent queries does not grow with the number of callers.
 */
export class LookupLane<V> {
  private waiting: Waiter<V>[] = [];
  private running = 0;

  /** @param lookUp finds many ids at once. An id that is missing in the result does not exist. */
  constructor(
    private readonly lookUp: (ids: readonly string[]) => Promise<ReadonlyMap<string, V>>,
    private readonly limits: LaneLimits,
  ) {}

  get isFull(): boolean {
    return this.waiting.length >= this.limits.idsWaiting;
  }

  /**
   * Looks up one id. Must not be called while {@link isFull} is `true`.
   *
   * @returns `undefined` when the id does not exist.
   * @throws the error of the query.
   */
  async ask(id: string): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ id, resolve, reject });
      this.begin();
    });
  }

  private begin(): void {
    if (this.waiting.length === 0 || this.running >= this.limits.queriesAtOnce) return;
    this.running += 1;
    void this.run(this.waiting.splice(0, this.limits.idsPerQuery)).finally(() => {
      this.running -= 1;
      this.begin();
    });
  }

  private async run(waiters: readonly Waiter<V>[]): Promise<void> {
    try {
      const found = await this.lookUp(waiters.map(({ id }) => id));
      for (const { id, resolve } of waiters) resolve(found.get(id));
    } catch (failure) {
      // The waiting ids would wait as long and fail as well, so they fail now.
      for (const { reject } of [...waiters, ...this.waiting]) reject(failure);
      this.waiting = [];
    }
  }
}
