import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { AttemptCounter, Counted } from './attempt-counters.js';

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
