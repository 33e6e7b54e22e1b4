import { RateLimiterRedis } from 'rate-limiter-flexible';
import { RedisUnavailable } from '../../platform/redis/redis-errors.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import {
  AttemptCounters,
  type AttemptCounter,
  type AttemptLimit,
  type AttemptMemory,
  type Counted,
} from './attempt-counters.js';
import { InProcessAttemptCounters, RateLimiterCounter } from './in-process-attempt-counters.js';

/**
 * Counts in Redis, for all replicas. While Redis is unavailable, each replica counts by itself. So no request waits for
 * Redis, and every attempt is counted.
 *
 * The insurance limiter of rate-limiter-flexible would count in the process after any error, also while Redis is only slow,
 * and each replica would then allow the whole limit. Test: "refuse no attempt, and count none, because of any other error of
 * Redis".
 */
export class RedisAttemptCounters extends AttemptCounters {
  private readonly alone = new InProcessAttemptCounters();

  constructor(private readonly redis: RedisConnection) {
    super();
  }

  override counter(limit: AttemptLimit): AttemptCounter {
    return new RedisCounter(this.redis, limit, this.alone.counter(limit));
  }

  override memory(name: string, forSeconds: number): AttemptMemory {
    return new RedisMemory(this.redis, prefixOf(name), forSeconds, this.alone.memory(name, forSeconds));
  }
}

class RedisCounter implements AttemptCounter {
  private readonly shared: AttemptCounter;

  constructor(
    private readonly redis: RedisConnection,
    { name, attempts, withinSeconds }: AttemptLimit,
    private readonly alone: AttemptCounter,
  ) {
    const limit = { keyPrefix: prefixOf(name), points: attempts, duration: withinSeconds };
    this.shared = new RateLimiterCounter(new RateLimiterRedis({ storeClient: redis.client, ...limit }));
  }

  async count(key: string): Promise<Counted> {
    const run = <T>(commands: () => Promise<T>): Promise<T> => this.redis.run(tagged(key), commands);
    return sharedOrAlone(
      async () => {
        const counted = await run(() => this.shared.count(tagged(key)));
        // The attempt is withdrawn only in Redis, where it was counted. Without a withdrawal, it expires with its window.
        return counted.allowed
          ? { allowed: true, withdraw: () => sharedOrAlone(() => run(() => counted.withdraw()), nothing) }
          : counted;
      },
      () => this.alone.count(key),
    );
  }
}

class RedisMemory implements AttemptMemory {
  constructor(
    private readonly redis: RedisConnection,
    private readonly prefix: string,
    private readonly forSeconds: number,
    private readonly alone: AttemptMemory,
  ) {}

  async has(key: string): Promise<boolean> {
    return sharedOrAlone(
      async () => (await this.redis.run(this.keyOf(key), (client) => client.exists(this.keyOf(key)))) > 0,
      () => this.alone.has(key),
    );
  }

  async add(key: string): Promise<void> {
    // Also in this process, in case Redis becomes unavailable.
    await this.alone.add(key);
    await sharedOrAlone(async () => {
      await this.redis.run(this.keyOf(key), (client) => client.set(this.keyOf(key), '1', 'EX', this.forSeconds));
    }, nothing);
  }

  private keyOf(key: string): string {
    return `${this.prefix}:${tagged(key)}`;
  }
}

async function sharedOrAlone<T>(shared: () => Promise<T>, alone: () => Promise<T>): Promise<T> {
  try {
    return await shared();
  } catch (error) {
    if (error instanceof RedisUnavailable) return alone();
    throw error;
  }
}

async function nothing(): Promise<void> {
  // The loss is small: one attempt of a window stays counted, or Redis does not remember the network of one sign-in.
}

function prefixOf(name: string): string {
  return `chat:${name}`;
}

/** Adds a hash tag, so that all entries of one key are in one slot of a Redis cluster. */
function tagged(key: string): string {
  return `{${key}}`;
}
