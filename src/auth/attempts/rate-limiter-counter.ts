import { RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import type { AttemptCounter, Counted } from './attempt-counters.js';

/** Counts with a limiter of rate-limiter-flexible. */
export class RateLimiterCounter implements AttemptCounter {
  constructor(private readonly limiter: RateLimiterAbstract) {}

  async count(key: string): Promise<Counted> {
    try {
      await this.limiter.consume(key);
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      // The limiter counts refused attempts, too. They would count on after the allowed attempts are withdrawn.
      await this.giveBack(key);
      return { allowed: false, retryAfterMs: refusal.msBeforeNext };
    }
    return { allowed: true, withdraw: () => this.giveBack(key) };
  }

  private async giveBack(key: string): Promise<void> {
    // When the window is over, there is nothing to give back. A point for an empty window would allow one attempt too many.
    const window = await this.limiter.get(key);
    if (window !== null && window.consumedPoints > 0) await this.limiter.reward(key);
  }
}
