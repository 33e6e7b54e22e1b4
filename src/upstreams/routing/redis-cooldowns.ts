import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisClient } from '../../redis/redis-client.js';
import type { RedisConnection } from '../../redis/redis-connection.js';
import { RedisScript } from '../../redis/redis-script.js';

/** A sorted set: the key of a route or an upstream, by the end of its cooldown in the time of Redis. */
const KEY = 'chat:cooldowns';
/** A connection without traffic is closed after 15 seconds. A ping keeps the connection, and shows whether it is lost. */
const PING_EVERY_MS = 5_000;
const RECONNECT_AFTER_MS = 500;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
`;

/** Adds a cooldown and notifies all replicas. ARGV: key of the route, time in milliseconds, channel, id of this replica. */
const ADD = new RedisScript(`${NOW}
redis.call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return redis.call('PUBLISH', ARGV[3], ARGV[4] .. ' ' .. ARGV[2] .. ' ' .. ARGV[1])
`);

/** Returns the cooldowns that are not over, as pairs of key and remaining milliseconds. */
const LIST = new RedisScript(`${NOW}
local cooldowns = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 2, #cooldowns, 2 do cooldowns[i] = string.format('%.0f', cooldowns[i] - now) end
return cooldowns
`);

type OnCooldown = (key: string, ms: number) => void;

/**
 * Shares the cooldowns that providers ask for between all replicas. A replica is notified of a cooldown through a
 * subscription, and reads the cooldowns that it has missed when its subscription begins. While Redis is unavailable, each
 * replica applies its own cooldowns.
 */
export class RedisCooldowns implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly listeners: OnCooldown[] = [];
  private subscriber: RedisClient | undefined;
  private isClosed = false;
  private readonly channel: string;
  private readonly replica = randomUUID();

  constructor(private readonly redis: RedisConnection) {
    // All databases of a server share its channels.
    this.channel = `chat:cooldowns:${redis.database}`;
    // Either of the two connections can be the last one that is ready.
    redis.whenBack(() => void this.readMissed());
  }

  subscribe(listener: OnCooldown): void {
    this.listeners.push(listener);
  }

  publish(key: string, ms: number): void {
    const args = [key, String(Math.round(ms)), this.channel, this.replica];
    this.redis.run(KEY, (client) => ADD.run(client, [KEY], args)).catch(() => undefined);
  }

  onApplicationBootstrap(): void {
    void this.stayConnected();
  }

  onApplicationShutdown(): void {
    this.isClosed = true;
    if (this.subscriber?.isOpen === true) this.subscriber.destroy();
  }

  /** Connects again after each loss. In a cluster, all servers send the messages of the channel. */
  private async stayConnected(): Promise<void> {
    while (!this.isClosed) {
      try {
        await this.listen(await this.redis.openAnother({ pingEveryMs: PING_EVERY_MS }));
      } catch {
        // The connection of the process reports outages.
      }
      await sleep(RECONNECT_AFTER_MS * (0.5 + Math.random() / 2), undefined, { ref: false });
    }
  }

  /** Subscribes, and then reads the cooldowns that were published before. Resolves when the connection is closed. */
  private async listen(subscriber: RedisClient): Promise<void> {
    this.subscriber = subscriber;
    try {
      const isLost = new Promise((resolve) => subscriber.once('error', resolve).once('end', resolve));
      if (this.isClosed) return;
      await subscriber.subscribe(this.channel, this.onMessage);
      await this.readMissed();
      await isLost;
    } finally {
      if (subscriber.isOpen) subscriber.destroy();
    }
  }

  private async readMissed(): Promise<void> {
    try {
      const found = (await this.redis.run(KEY, (client) => LIST.run(client, [KEY], []))) as string[];
      for (let index = 0; index + 1 < found.length; index += 2)
        this.notify(found[index] ?? '', Number(found[index + 1]));
    } catch {
      // Reads again when Redis is back.
    }
  }

  /** @param message the id of the replica, the time in milliseconds, and the key, which can contain spaces. */
  private readonly onMessage = (message: string): void => {
    const [replica = '', ms = ''] = message.split(' ', 2);
    // This replica applies its own cooldown already, and must not extend it by the time that Redis takes.
    if (replica !== this.replica) this.notify(message.slice(replica.length + ms.length + 2), Number(ms));
  };

  private notify(key: string, ms: number): void {
    for (const listener of this.listeners) listener(key, ms);
  }
}
