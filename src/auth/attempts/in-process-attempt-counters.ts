import { createHash, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { RecentMap } from '../../accounts/credentials/recent-map.js';
import { AttemptCounters, type AttemptCounter, type AttemptLimit, type AttemptMemory } from './attempt-counters.js';
import { RateLimiterCounter } from './rate-limiter-counter.js';

const KEY_BITS = 17;
const MAX_REMEMBERED = 50_000;

/** Counts the attempts in this process only. */
export class InProcessAttemptCounters extends AttemptCounters {
  override counter({ name, attempts, withinSeconds }: AttemptLimit): AttemptCounter {
    return new RateLimiterCounter(
      new BoundedRateLimiter({ keyPrefix: name, points: attempts, duration: withinSeconds }),
    );
  }

  override memory(_: string, forSeconds: number): AttemptMemory {
    return new InProcessMemory(forSeconds * 1000);
  }
}

/**
 * Bounds the memory for counters: all keys share 131,072 counters. The random salt hides which keys share a counter. The
 * chance that a new key shares its counter with another key equals the fraction of counters in use.
 */
class BoundedRateLimiter extends RateLimiterMemory {
  private readonly salt = randomBytes(16);

  override getKey(key: string | number): string {
    const hash = createHash('sha256').update(this.salt).update(String(key)).digest();
    return super.getKey(hash.readUInt32BE() >>> (32 - KEY_BITS));
  }
}

/** Replaces the memory of the library, because the library's timers fire at once when they are set to more than 24 days. */
class InProcessMemory implements AttemptMemory {
  private readonly keys = new RecentMap<string, true>(MAX_REMEMBERED);

  constructor(private readonly forMs: number) {}

  has(key: string): Promise<boolean> {
    return Promise.resolve(this.keys.get(key, Date.now() - this.forMs) === true);
  }

  add(key: string): Promise<void> {
    this.keys.set(key, true, Date.now());
    return Promise.resolve();
  }
}
