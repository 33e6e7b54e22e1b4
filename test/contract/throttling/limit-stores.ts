import { Membership } from '../../../src/platform/redis/membership.js';
import { RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { InProcessLimitStore } from '../../../src/throttling/in-process/in-process-limit-store.js';
import { LimitFallback } from '../../../src/throttling/limit-fallback.js';
import { RedisLimitStore } from '../../../src/throttling/redis/redis-limit-store.js';
import type { OpenedLimitStore } from '../../../src/testing/stores/limit-stores.js';
import { waitFor } from '../../support/wait-for.js';
import type { TokensUsed } from '../../../src/throttling/tokens/tokens-used.js';

const NO_TOKENS_USED: TokensUsed = { since: () => Promise.resolve(0) };

/** A store of this service as one process has it. */
export interface OpenedStore extends OpenedLimitStore {
  readonly fallback: LimitFallback;
  isRedisUnavailable(): boolean;
  /** Whether all servers of Redis answer now. */
  isExact(): Promise<boolean>;
  close(): Promise<void>;
}

export function openInProcess(tokensUsed: TokensUsed = NO_TOKENS_USED): Promise<OpenedStore> {
  return Promise.resolve({
    store: new InProcessLimitStore({ tokensUsed }),
    fallback: new LimitFallback(),
    isRedisUnavailable: () => false,
    isExact: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  });
}

/** Each has a connection of its own, as each replica has. */
export async function openOnRedis(url: string, tokensUsed: TokensUsed = NO_TOKENS_USED): Promise<OpenedStore> {
  const redis = new RedisConnection(url);
  const membership = new Membership(redis);
  const fallback = new LimitFallback(membership);
  const store = new RedisLimitStore(redis, tokensUsed, fallback);
  await redis.onModuleInit();
  return {
    store,
    fallback,
    isRedisUnavailable: () => redis.isUnavailable,
    isExact: () => answers(redis),
    async close() {
      await membership.beforeApplicationShutdown();
      store.onApplicationShutdown();
      await redis.onApplicationShutdown();
    },
  };
}

/** Waits until Redis answers, so that the limits are exact from the first request. */
export async function openExactly(url: string, tokensUsed?: TokensUsed): Promise<OpenedStore> {
  const opened = await openOnRedis(url, tokensUsed);
  await waitFor(() => opened.isExact(), 'Redis to answer');
  return opened;
}

/** Whether all servers answer now. A server counts as available before its first answer. */
export function answers(redis: RedisConnection): Promise<boolean> {
  return redis.check().then(
    () => true,
    () => false,
  );
}
