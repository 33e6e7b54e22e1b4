import { RateLimiterMemory, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import {
  AttemptCounters,
  type AttemptCounter,
  type AttemptLimit,
  type AttemptMemory,
  type Counted,
} from './attempt-counters.js';
import { createHash, randomBytes } from 'node:crypto';
import { RecentMap } from '../../platform/common/recent-map.js';

/**
 * The clock of the limiter is the wall clock of this process or of Redis, and may be adjusted while a window lasts. Windows
 * last far longer than this.
 */
const CLOCK_TOLERANCE_MS = 5_000;

/** Counts with a limiter of rate-limiter-flexible. */
export class RateLimiterCounter implements AttemptCounter {
  constructor(private readonly limiter: RateLimiterAbstract) {}

  async count(key: string): Promise<Counted> {
    try {
      const { msBeforeNext } = await this.limiter.consume(key);
      const windowEndsAt = performance.now() + msBeforeNext;
      return { allowed: true, withdraw: () => this.release(key, windowEndsAt) };
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      // The limiter counts refused attempts, too. They would count on after the allowed attempts are withdrawn.
      await this.release(key, performance.now() + refusal.msBeforeNext);
      return { allowed: false, retryAfterMs: refusal.msBeforeNext };
    }
  }

  /**
   * Releases a counted attempt if its window is not over. A point for an empty window, or for the next window, would allow one
   * attempt too many.
   */
  private async release(key: string, windowEndsAt: number): Promise<void> {
    const leftMs = windowEndsAt - performance.now();
    const window = await this.limiter.get(key);
    if (window === null || window.consumedPoints === 0 || window.msBeforeNext > leftMs + CLOCK_TOLERANCE_MS) return;
    const { consumedPoints } = await this.limiter.reward(key);
    // The window has ended since, and the point opened the next one.
    if (consumedPoints < 0) await this.limiter.penalty(key);
  }
}

const KEY_BITS = 16;
const TABLES = 2;
const MAX_REMEMBERED = 50_000;

/** Counts the attempts in this process only. */
export class InProcessAttemptCounters extends AttemptCounters {
  override counter({ name, attempts, withinSeconds }: AttemptLimit): AttemptCounter {
    const options = { keyPrefix: name, points: attempts, duration: withinSeconds };
    return new TwiceCounted(
      Array.from({ length: TABLES }, () => new RateLimiterCounter(new BoundedRateLimiter(options))),
    );
  }

  override memory(_: string, forSeconds: number): AttemptMemory {
    return new InProcessMemory(forSeconds * 1000);
  }
}

/**
 * Counts each attempt in all tables, and refuses the attempt only when all tables refuse. Two keys may share a counter of one
 * table, but hardly ever of both. Test: "do not use up the limits of other keys, although all share a bounded number of
 * counters".
 */
class TwiceCounted implements AttemptCounter {
  constructor(private readonly tables: readonly AttemptCounter[]) {}

  async count(key: string): Promise<Counted> {
    const counted = await Promise.all(this.tables.map((table) => table.count(key)));
    const allowed = counted.filter((each) => each.allowed);
    const refused = counted.filter((each) => !each.allowed);
    if (allowed.length === 0)
      return { allowed: false, retryAfterMs: Math.min(...refused.map(({ retryAfterMs }) => retryAfterMs)) };
    return {
      allowed: true,
      withdraw: async () => {
        await Promise.all(allowed.map((each) => each.withdraw()));
      },
    };
  }
}

/**
 * A table of 65,536 counters, which all keys share. This bounds the memory. The random salt hides which keys share a counter.
 * The chance that a new key shares its counter with another key equals the fraction of counters in use.
 *
 * RateLimiterMemory has no bound of its own. Test: "take a bounded amount of memory, whatever is sent".
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
