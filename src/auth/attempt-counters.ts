import { createHash, randomBytes } from 'node:crypto';
import { RateLimiterMemory, type RateLimiterAbstract } from 'rate-limiter-flexible';

export interface AttemptLimit {
  /** Apart from the other limits' names. */
  readonly name: string;
  readonly attempts: number;
  readonly withinSeconds: number;
}

/** Where attempts to sign in are counted. The class is the injection token. */
export abstract class AttemptCounters {
  /** A counter of its own. What it counts by are texts of any length. */
  abstract create(limit: AttemptLimit): RateLimiterAbstract;
}

/** Counts the attempts at this process. */
export class InProcessAttemptCounters extends AttemptCounters {
  override create({ name, attempts, withinSeconds }: AttemptLimit): RateLimiterAbstract {
    return new BoundedRateLimiter({ keyPrefix: name, points: attempts, duration: withinSeconds });
  }
}

const KEY_BITS = 17;

/**
 * Keeps a bounded number of counters, whatever is sent: those that it counts by share 131,072 of them. Which share one
 * nobody can know, and a stranger in one's own is as likely as the share of counters in use.
 */
class BoundedRateLimiter extends RateLimiterMemory {
  private readonly salt = randomBytes(16);

  override getKey(key: string | number): string {
    const hash = createHash('sha256').update(this.salt).update(String(key)).digest();
    return super.getKey(hash.readUInt32BE() >>> (32 - KEY_BITS));
  }
}
