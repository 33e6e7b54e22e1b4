import { createHash, randomBytes } from 'node:crypto';
import { RateLimiterMemory } from 'rate-limiter-flexible';
import { RecentMap } from '../../accounts/credentials/recent-map.js';
import { AttemptCounters, type AttemptCounter, type AttemptLimit, type AttemptMemory } from './attempt-counters.js';
import { RateLimiterCounter } from './rate-limiter-counter.js';

const KEY_BITS = 17;
const MAX_REMEMBERED = 50_000;

/** Counts the attempts at this process. */
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

/** Not the library's, whose timers end at once when they should run for more than 24 days. */
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
