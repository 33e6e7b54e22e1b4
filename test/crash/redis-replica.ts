import { RedisUnavailable } from '../../src/platform/redis/redis-errors.js';
import { RedisConnection, type Commands } from '../../src/platform/redis/redis-connection.js';
import { LimitFallback } from '../../src/throttling/limit-fallback.js';
import type { Lease } from '../../src/throttling/limit-store.js';
import { RedisLimitStore } from '../../src/throttling/redis/redis-limit-store.js';
import { limitsOf } from '../../src/throttling/account-limits.js';

export const LIMIT = 1000;
export const LIMITS = { tokensPerDay: LIMIT };
/** Loses the answers of what nobody waits for, while told so. */
class LossyConnection extends RedisConnection {
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
    const connection = new LossyConnection(url);
    const store = new RedisLimitStore(connection, { since: () => Promise.resolve(0) }, new LimitFallback());
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
    this.store.onApplicationShutdown();
    await this.connection.onApplicationShutdown();
  }
}
