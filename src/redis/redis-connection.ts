import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { withTimeout } from '../common/timers/with-timeout.js';
import type { RedisClient } from './redis-client.js';
import { RedisTimeout } from './redis-errors.js';

/**
 * A request waits this long for its reply while Redis replies to others. ConnectionIdleTimeout notices sooner that Redis
 * does not reply at all.
 */
const QUERY_TIMEOUT_MS = 1000;
/** Redirections and retries end before the timeout, so that nothing is sent for a request that waits no longer. */
const LAST_RETRY_MS = 50;
const MAX_REDIRECTION_MS = 10_000;

/** Commands for the keys of one slot. A redirection runs them again, so all but the first must be harmless when repeated. */
export type Commands<T> = (client: RedisClient) => Promise<T>;

/**
 * The connection of this process to Redis: to one server, or to the masters of a cluster. It reconnects by itself. Until it
 * is back, commands fail at once instead of waiting in a queue.
 *
 * A server is "unavailable" when the connection is refused or lost, when no command gets a reply for half a second, or
 * when it refuses writes. Redis is "slow" when it replies to other commands, but not this command in time. Load can make Redis
 * slow, so a slow Redis must not make each replica admit its own share of the limits.
 */
export abstract class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  private readonly onBack: (() => void)[] = [];
  private readonly onUnavailable: (() => void)[] = [];

  /** Whether a server is unavailable. */
  abstract readonly isUnavailable: boolean;
  abstract readonly isOpen: boolean;

  abstract isUnavailableFor(key: string): boolean;

  /** Returns for how long the server of the key has been available, or `Infinity` if there was no outage so far. */
  abstract availableForMs(key: string): number;

  /** Runs commands without a key on each available server. */
  abstract runOnEach(commands: Commands<unknown>): Promise<void>;

  /** Does on each server what admissions do. @throws {RedisUnavailable | RedisTimeout} if this does not work on one of them. */
  abstract check(): Promise<void>;

  /** Connects to Redis. Does not fail when Redis is unavailable, because the process also works without Redis. */
  abstract onModuleInit(): Promise<void>;
  abstract onApplicationShutdown(): Promise<void>;

  /** Runs commands on the server of the key, and follows redirections until the time `until` of the monotonic clock. */
  protected abstract send<T>(key: string, commands: Commands<T>, until: number): Promise<T>;

  /**
   * Runs commands on the server of a key, and waits one second at most for their outcome.
   *
   * @throws {RedisUnavailable} when the server is unavailable.
   * @throws {RedisTimeout} when the reply does not come in time, or when too many commands wait already.
   * @example const count = await redis.run(KEY, (client) => client.zCard(KEY));
   */
  async run<T>(key: string, commands: Commands<T>): Promise<T> {
    const until = performance.now() + QUERY_TIMEOUT_MS - LAST_RETRY_MS;
    return withTimeout(this.send(key, commands, until), QUERY_TIMEOUT_MS, () => new RedisTimeout(true));
  }

  /**
   * Runs commands that no request waits for. A slow Redis gets the time that it needs.
   *
   * @throws {RedisUnavailable} when the server is unavailable.
   * @throws {RedisTimeout} when too many commands wait already.
   */
  async runWithoutTimeout<T>(key: string, commands: Commands<T>): Promise<T> {
    return this.send(key, commands, performance.now() + MAX_REDIRECTION_MS);
  }

  /** Calls the listener each time a server becomes available, including the first time. */
  whenBack(listener: () => void): void {
    this.onBack.push(listener);
  }

  /** Calls the listener each time a server becomes unavailable. */
  whenUnavailable(listener: () => void): void {
    this.onUnavailable.push(listener);
  }

  protected notifyAvailable(): void {
    for (const listener of this.onBack) listener();
  }

  protected notifyUnavailable(): void {
    for (const listener of this.onUnavailable) listener();
  }
}
