import { RecentMap } from '../recent-map.js';

interface BucketLimits {
  /** The tokens of a full bucket: the size of a burst. */
  readonly capacity: number;
  /** The tokens that a bucket regains per second. */
  readonly perSecond: number;
  /** The maximum number of buckets in memory. Above it, the bucket that was used longest ago counts as full. */
  readonly maxKeys: number;
}

interface Bucket {
  readonly tokens: number;
  /** In milliseconds, by the monotonic clock. */
  readonly at: number;
}

/** A token bucket for each key: allows a burst, and then a number of uses per second. */
export class TokenBuckets {
  private readonly buckets: RecentMap<string, Bucket>;

  /** @param now in milliseconds, by a monotonic clock. */
  constructor(
    private readonly limits: BucketLimits,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.buckets = new RecentMap(limits.maxKeys);
  }

  /** Takes a token of the key. Returns `false` when the bucket is empty. */
  take(key: string): boolean {
    const tokens = this.tokensOf(key);
    if (tokens < 1) return false;
    this.set(key, tokens - 1);
    return true;
  }

  /** Returns a token that was taken for nothing. */
  refund(key: string): void {
    this.set(key, Math.min(this.limits.capacity, this.tokensOf(key) + 1));
  }

  private tokensOf(key: string): number {
    const { capacity, perSecond } = this.limits;
    const bucket = this.buckets.get(key, -1);
    if (bucket === undefined) return capacity;
    return Math.min(capacity, bucket.tokens + ((this.now() - bucket.at) / 1000) * perSecond);
  }

  private set(key: string, tokens: number): void {
    this.buckets.set(key, { tokens, at: this.now() }, 0);
  }
}
