import { RedisUnavailable } from '../../src/redis/redis-errors.js';
import { readRedisUrl, type RedisAddress } from '../../src/config/sources/redis-url.js';
import type { Commands } from '../../src/redis/redis-connection.js';
import { SingleConnection } from '../../src/redis/single-connection.js';
import { LimitFallback } from '../../src/throttling/limit-fallback.js';
import type { Lease } from '../../src/throttling/limit-store.js';
import { RedisLimitStore } from '../../src/throttling/redis/redis-limit-store.js';
import { limitsOf } from '../../src/throttling/tier-limits.js';
import { NoTokensUsed } from '../../src/throttling/tokens/tokens-used.js';

export const LIMIT = 1000;
export const LIMITS = { tokensPerDay: LIMIT };
/** Loses the answers of what nobody waits for, while told so. */
class LossyConnection extends SingleConnection {
  /** `before`: Redis never gets it. `after`: Redis has done it. */
  loses: 'before' | 'after' | undefined;
  lost = 0;
  private readonly listeners: (() => void)[] = [];

  override whenBack(listener: () => void): void {
    this.listeners.push(listener);
    super.whenBack(listener);
  }

  override async runWithoutTimeout<T>(key: string, commands: Commands<T>): Promise<T> {
    const { loses } = this;
    const answer = loses === 'before' ? undefined : await super.runWithoutTimeout(key, commands);
    if (loses === undefined) return answer as T;
    this.lost++;
    throw new RedisUnavailable('The connection was cut.', true);
  }

  /** Tells whoever waits for Redis that it answers again. */
  answerAgain(): void {
    this.loses = undefined;
    for (const listener of this.listeners) listener();
  }
}

/** A replica's counters in Redis. */
export class Replica {
  private constructor(
    readonly connection: LossyConnection,
    readonly store: RedisLimitStore,
  ) {}

  static async start(url: string): Promise<Replica> {
    const connection = new LossyConnection(readRedisUrl(url) as Extract<RedisAddress, { kind: 'server' }>);
    const store = new RedisLimitStore(connection, new NoTokensUsed(), new LimitFallback());
    await connection.onModuleInit();
    return new Replica(connection, store);
  }

  async admit(accountId: string): Promise<Lease> {
    const admission = await this.store.admit({
      accountId,
      limits: limitsOf(LIMITS),
      tokens: { atLeast: 100, atMost: 100 },
    });
    if (!admission.admitted) throw new Error('The request was refused.');
    return admission.lease;
  }

  async left(accountId: string): Promise<number | undefined> {
    return (await this.store.peek(accountId, limitsOf(LIMITS))).tokensPerDay?.remaining;
  }

  async stop(): Promise<void> {
    await this.store.beforeApplicationShutdown();
    this.store.onApplicationShutdown();
    await this.connection.onApplicationShutdown();
  }
}
