import { RedisTimeout } from '../../platform/redis/redis-errors.js';
import type { RedisClient } from '../../platform/redis/redis-client.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { startTimer } from '../../platform/common/timers/pace.js';

/**
 * The most commands that wait for Redis. Above this number, the oldest command is lost. The next day's counters start from
 * the ledger, so they are correct again.
 */
const MAX_PENDING = 20_000;
const SENT_AT_ONCE = 100;
/** The delay before a retry when Redis is available, but too many commands wait. */
const RETRY_AFTER_MS = 1000;

/** A command that may arrive more than once. */
type Command = (client: RedisClient) => Promise<unknown>;

/** Sends commands to Redis that no request waits for. Sends each command at once, and retries when Redis is back. */
export class PendingCommands {
  private retrying: NodeJS.Timeout | undefined;
  private pending: { readonly key: string; readonly command: Command }[] = [];

  constructor(private readonly redis: RedisConnection) {
    redis.whenBack(() => void this.resend());
  }

  /** @param key a key that the commands use. */
  send(key: string, command: Command): void {
    void this.attempt(key, command);
  }

  private async attempt(key: string, command: Command): Promise<void> {
    try {
      await this.redis.runWithoutTimeout(key, command);
    } catch (error) {
      this.pending.push({ key, command });
      if (this.pending.length > MAX_PENDING) this.pending.shift();
      if (error instanceof RedisTimeout) this.resendSoon();
    }
  }

  private resendSoon(): void {
    this.retrying ??= startTimer(() => {
      this.retrying = undefined;
      void this.resend();
    }, RETRY_AFTER_MS).unref();
  }

  private async resend(): Promise<void> {
    const all = this.pending;
    this.pending = [];
    for (let start = 0; start < all.length; start += SENT_AT_ONCE) {
      await Promise.all(all.slice(start, start + SENT_AT_ONCE).map(({ key, command }) => this.attempt(key, command)));
    }
  }
}
