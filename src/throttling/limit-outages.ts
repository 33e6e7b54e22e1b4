/** What there is to tell of times without the shared store, for metrics. */
export class LimitOutages {
  admissionsWithoutRedis = 0;
  /** How many share the limits, as it was last seen: each lets in as much as its share while the store is away. */
  replicas = 1;

  constructor(private readonly redis: { readonly isAway: boolean } | undefined) {}

  /** Whether this replica lets in its share of the limits by itself now. */
  get isAway(): boolean {
    return this.redis?.isAway === true;
  }
}
