import type { ThrottlerStorage } from '@nestjs/throttler';

/** What is known of the window that a request falls into; times in seconds. */
export type Count = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** Where the requests of each account are counted. Provided under the token `ThrottlerStorage` of @nestjs/throttler. */
export interface RequestCounts extends ThrottlerStorage {
  /** The count as it is, without one more. */
  peek(key: string, ttlMs: number): Promise<Pick<Count, 'totalHits' | 'timeToExpire'>>;
}
