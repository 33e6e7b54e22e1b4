import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { RateLimiterMemory } from 'rate-limiter-flexible';

type Count = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Counts requests of fixed windows in this process. */
@Injectable()
export class InProcessThrottlerStorage implements ThrottlerStorage {
  /** By length of the window; the limit itself differs from key to key and is compared here. */
  private readonly windows = new Map<number, RateLimiterMemory>();

  async increment(key: string, ttlMs: number, limit: number): Promise<Count> {
    const { consumedPoints, msBeforeNext } = await this.window(ttlMs).penalty(key);
    const timeToExpire = Math.max(1, Math.ceil(msBeforeNext / 1000));
    const isBlocked = consumedPoints > limit;
    return { totalHits: consumedPoints, timeToExpire, isBlocked, timeToBlockExpire: isBlocked ? timeToExpire : 0 };
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
