import { openRedis } from '../../../src/redis/open-redis.js';
import { InProcessLimitStore } from '../../../src/throttling/in-process/in-process-limit-store.js';
import { LimitFallback } from '../../../src/throttling/limit-fallback.js';
import { RedisLimitStore } from '../../../src/throttling/redis/redis-limit-store.js';
import type { OpenedLimitStore } from '../../../src/testing/stores/limit-stores.js';
import { waitFor } from '../../support/wait-for.js';
import { NoTokensUsed, type TokensUsed } from '../../../src/throttling/tokens/tokens-used.js';

/** A store of this service as one process has it. */
export interface OpenedStore extends OpenedLimitStore {
  readonly fallback: LimitFallback;
  isRedisUnavailable(): boolean;
  close(): Promise<void>;
}

export function openInProcess(tokensUsed: TokensUsed = new NoTokensUsed()): Promise<OpenedStore> {
  return Promise.resolve({
    store: new InProcessLimitStore({ tokensUsed }),
    fallback: new LimitFallback(),
    isRedisUnavailable: () => false,
    close: () => Promise.resolve(),
  });
}

/** Each has a connection of its own, as each replica has. */
export async function openOnRedis(url: string, tokensUsed: TokensUsed = new NoTokensUsed()): Promise<OpenedStore> {
  const redis = openRedis(url);
  const fallback = new LimitFallback();
  const store = new RedisLimitStore(redis, tokensUsed, fallback);
  await redis.onModuleInit();
  return {
    store,
    fallback,
    isRedisUnavailable: () => redis.isUnavailable,
    async close() {
      await store.beforeApplicationShutdown();
      store.onApplicationShutdown();
      await redis.onApplicationShutdown();
    },
  };
}

/** Waits until Redis is available, so that the limits are exact from the first request. */
export async function openExactly(url: string, tokensUsed?: TokensUsed): Promise<OpenedStore> {
  const opened = await openOnRedis(url, tokensUsed);
  await waitFor(() => !opened.isRedisUnavailable(), 'Redis to be available');
  return opened;
}
