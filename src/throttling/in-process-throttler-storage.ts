import { Injectable } from '@nestjs/common';
import type { Count, RequestCounts } from './request-counts.js';
import { RateLimiterMemory } from 'rate-limiter-flexible';

/** Counts requests of fixed windows in this process. */
@Injectable()
export class InProcessThrottlerStorage implements RequestCounts {
  /** By length of the window; the limit itself differs from key to key and is compared here. */
  private readonly windows = new Map<number, RateLimiterMemory>();

  async increment(key: string, ttlMs: number, limit: number): Promise<Count> {
    const { consumedPoints, msBeforeNext } = await this.window(ttlMs).penalty(key);
    const timeToExpire = Math.max(1, Math.ceil(msBeforeNext / 1000));
    const isBlocked = consumedPoints > limit;
    return { totalHits: consumedPoints, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
  }

  async peek(key: string, ttlMs: number): Promise<Pick<Count, 'totalHits' | 'timeToExpire'>> {
    const window = await this.window(ttlMs).get(key);
    if (window === null || window.msBeforeNext <= 0) return { totalHits: 0, timeToExpire: Math.ceil(ttlMs / 1000) };
    return { totalHits: window.consumedPoints, timeToExpire: Math.max(1, Math.ceil(window.msBeforeNext / 1000)) };
  }

  private window(ttlMs: number): RateLimiterMemory {
    let window = this.windows.get(ttlMs);
    if (window === undefined) {
      window = new RateLimiterMemory({ points: Number.MAX_SAFE_INTEGER, duration: ttlMs / 1000 });
      this.windows.set(ttlMs, window);
    }
    return window;
  }
}
