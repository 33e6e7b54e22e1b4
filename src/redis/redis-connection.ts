import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { within } from '../common/timers/within.js';
import type { RedisClient } from './redis-client.js';
import { RedisSlow } from './redis-slow.js';

/** A request waits this long for its answer while Redis answers others. SilenceWatch notices a silent Redis sooner. */
const PATIENCE_MS = 1000;
/** Redirections and retries end before the patience ends, so that nothing is sent for a request that waits no longer. */
const LAST_RETRY_MS = 50;
const MOST_PATIENCE_MS = 10_000;

/** Commands for the keys of one slot. A redirection runs them again, so all but the first must be harmless when repeated. */
export type Commands<T> = (client: RedisClient) => Promise<T>;

/**
 * The connection of this process to Redis: to one server, or to the masters of a cluster. It reconnects by itself. Until it
 * is back, commands fail at once instead of waiting in a queue.
 *
 * A server is "unavailable" when the connection is refused or lost, when no command gets an answer for half a second, or
 * when it refuses writes. Redis is "slow" when it answers other commands, but not this command in time. Load can make Redis
 * slow, so a slow Redis must not make each replica admit its own share of the limits.
 */
export abstract class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  private readonly onBack: (() => void)[] = [];
  private readonly onUnavailable: (() => void)[] = [];

  /** The number of the database. A cluster has only the database 0. */
  abstract readonly database: number;
  /** Whether a server is unavailable. */
  abstract readonly isUnavailable: boolean;
  abstract readonly isOpen: boolean;

  abstract isUnavailableFor(key: string): boolean;

  /** Returns for how long the server of the key has been available, or `Infinity` if there was no outage so far. */
  abstract availableForMs(key: string): number;

  /** Runs commands without a key on each available server. */
  abstract runOnEach(commands: Commands<unknown>): Promise<void>;

  /** Does on each server what admissions do. @throws {RedisUnavailable | RedisSlow} if this does not work on one of them. */
  abstract check(): Promise<void>;

  /**
   * Opens another connection, to the server of the key or to any server. The caller closes it. It does not reconnect.
   *
   * @param pingEveryMs for a connection without other traffic.
   */
  abstract openAnother(options: { readonly key?: string; readonly pingEveryMs?: number }): Promise<RedisClient>;

  /** Connects to Redis. Does not fail when Redis is unavailable, because the process also works without Redis. */
  abstract onModuleInit(): Promise<void>;
  abstract onApplicationShutdown(): Promise<void>;

  /** Runs commands on the server of the key, and follows redirections until the time `until` of the monotonic clock. */
  protected abstract send<T>(key: string, commands: Commands<T>, until: number): Promise<T>;

  /**
   * Runs commands on the server of a key, and waits one second at most for their outcome.
   *
   * @throws {RedisUnavailable} when the server is unavailable.
   * @throws {RedisSlow} when the answer does not come in time, or when too many commands wait already.
   * @example const count = await redis.run(KEY, (client) => client.zCard(KEY));
   */
  async run<T>(key: string, commands: Commands<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS - LAST_RETRY_MS;
    return within(this.send(key, commands, until), PATIENCE_MS, () => new RedisSlow(true));
  }

  /**
   * Runs commands that no request waits for. A slow Redis gets the time that it needs.
   *
   * @throws {RedisUnavailable} when the server is unavailable.
   * @throws {RedisSlow} when too many commands wait already.
   */
  async runPatiently<T>(key: string, commands: Commands<T>): Promise<T> {
    return this.send(key, commands, performance.now() + MOST_PATIENCE_MS);
  }

  /** Calls the listener each time a server becomes available, including the first time. */
  whenBack(listener: () => void): void {
    this.onBack.push(listener);
  }

  /** Calls the listener each time a server becomes unavailable. */
  whenUnavailable(listener: () => void): void {
    this.onUnavailable.push(listener);
  }

  protected tellBack(): void {
    for (const listener of this.onBack) listener();
  }

  protected tellUnavailable(): void {
    for (const listener of this.onUnavailable) listener();
  }
}
