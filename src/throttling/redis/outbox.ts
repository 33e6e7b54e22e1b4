import { RedisUnavailable } from '../../redis/redis-unavailable.js';
import type { RedisClient } from '../../redis/redis-client.js';
import type { RedisConnection } from '../../redis/redis-connection.js';
import { RedisSlow } from '../../redis/redis-slow.js';

/**
 * The most commands that wait for Redis. Above this number, the oldest command is lost. The next day's counters start from
 * the ledger, so they are correct again.
 */
const MAX_KEPT = 20_000;
const SENT_AT_ONCE = 100;
/** The delay before a retry when Redis is available, but too many commands wait. */
const RETRY_AFTER_MS = 1000;

/** @param again whether the command may have been sent before. */
type News = (client: RedisClient, again: boolean) => Promise<unknown>;

/** Sends commands to Redis that no request waits for. Sends each command at once, and retries when Redis is back. */
export class Outbox {
  private retrying: NodeJS.Timeout | undefined;
  private kept: { readonly key: string; readonly news: News; readonly wasSent: boolean }[] = [];

  constructor(private readonly redis: RedisConnection) {
    redis.whenBack(() => void this.sendKept());
  }

  /** @param key a key that the commands use. */
  send(key: string, news: News): void {
    void this.attempt(key, news, false);
  }

  private async attempt(key: string, news: News, wasSent: boolean): Promise<void> {
    try {
      await this.redis.runPatiently(key, (client) => news(client, wasSent));
    } catch (error) {
      const isUnsent = (error instanceof RedisUnavailable || error instanceof RedisSlow) && !error.wasSent;
      this.kept.push({ key, news, wasSent: wasSent || !isUnsent });
      if (this.kept.length > MAX_KEPT) this.kept.shift();
      if (error instanceof RedisSlow) this.sendKeptSoon();
    }
  }

  private sendKeptSoon(): void {
    this.retrying ??= setTimeout(() => {
      this.retrying = undefined;
      void this.sendKept();
    }, RETRY_AFTER_MS).unref();
  }

  private async sendKept(): Promise<void> {
    const all = this.kept;
    this.kept = [];
    for (let start = 0; start < all.length; start += SENT_AT_ONCE) {
      await Promise.all(
        all.slice(start, start + SENT_AT_ONCE).map(({ key, news, wasSent }) => this.attempt(key, news, wasSent)),
      );
    }
  }
}
