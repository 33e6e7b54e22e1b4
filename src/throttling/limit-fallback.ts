/** The state of the limits during outages of Redis, for metrics. */
export class LimitFallback {
  admissionsWithoutRedis = 0;
  /** The last known number of replicas. While Redis is unavailable, each replica admits its share of the limits. */
  replicas = 1;

  constructor(private readonly redis: { readonly isAway: boolean } | undefined) {}

  /** Whether Redis is unavailable, so that this replica admits its share of the limits by itself. */
  get isAway(): boolean {
    return this.redis?.isAway === true;
  }
}
