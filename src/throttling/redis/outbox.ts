import { RedisUnavailable, RedisTimeout } from '../../redis/redis-errors.js';
import type { RedisClient } from '../../redis/redis-client.js';
import type { RedisConnection } from '../../redis/redis-connection.js';

/**
 * The most commands that wait for Redis. Above this number, the oldest command is lost. The next day's counters start from
 * the ledger, so they are correct again.
 */
const MAX_PENDING = 20_000;
const SENT_AT_ONCE = 100;
/** The delay before a retry when Redis is available, but too many commands wait. */
const RETRY_AFTER_MS = 1000;

/** @param again whether the command may have been sent before. */
type Command = (client: RedisClient, again: boolean) => Promise<unknown>;

/** Sends commands to Redis that no request waits for. Sends each command at once, and retries when Redis is back. */
export class Outbox {
  private retrying: NodeJS.Timeout | undefined;
  private pending: { readonly key: string; readonly command: Command; readonly wasSent: boolean }[] = [];

  constructor(private readonly redis: RedisConnection) {
    redis.whenBack(() => void this.resend());
  }

  /** @param key a key that the commands use. */
  send(key: string, command: Command): void {
    void this.attempt(key, command, false);
  }

  private async attempt(key: string, command: Command, wasSent: boolean): Promise<void> {
    try {
      await this.redis.runWithoutTimeout(key, (client) => command(client, wasSent));
    } catch (error) {
      const isUnsent = (error instanceof RedisUnavailable || error instanceof RedisTimeout) && !error.wasSent;
      this.pending.push({ key, command, wasSent: wasSent || !isUnsent });
      if (this.pending.length > MAX_PENDING) this.pending.shift();
      if (error instanceof RedisTimeout) this.resendSoon();
    }
  }

  private resendSoon(): void {
    this.retrying ??= setTimeout(() => {
      this.retrying = undefined;
      void this.resend();
    }, RETRY_AFTER_MS).unref();
  }

  private async resend(): Promise<void> {
    const all = this.pending;
    this.pending = [];
    for (let start = 0; start < all.length; start += SENT_AT_ONCE) {
      await Promise.all(
        all.slice(start, start + SENT_AT_ONCE).map(({ key, command, wasSent }) => this.attempt(key, command, wasSent)),
      );
    }
  }
}
