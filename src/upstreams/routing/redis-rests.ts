import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import type { RedisClient, RedisConnection } from '../../redis/redis-connection.js';
import { RedisScript } from '../../redis/redis-script.js';

/** A sorted set: the key of a route or an upstream, by the end of its rest in the time of Redis. */
const KEY = 'chat:rests';
const CHANNEL = 'chat:rests';

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
`;

/** Adds a rest and tells all replicas. ARGV: key of the route, time in milliseconds, channel. */
const ADD = new RedisScript(`${NOW}
redis.call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return redis.call('PUBLISH', ARGV[3], ARGV[2] .. ' ' .. ARGV[1])
`);

/** Returns the rests that are not over, as pairs of key and remaining milliseconds. */
const LIST = new RedisScript(`${NOW}
local rests = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
for i = 2, #rests, 2 do rests[i] = string.format('%.0f', rests[i] - now) end
return rests
`);

type OnRest = (key: string, ms: number) => void;

/**
 * Shares the rests that providers ask for between all replicas. A replica hears of a rest through a subscription, and reads
 * the rests that it has missed when its subscription begins. While Redis is unavailable, each replica keeps its own rests.
 */
export class RedisRests implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly listeners: OnRest[] = [];
  private readonly subscriber: RedisClient;

  constructor(private readonly redis: RedisConnection) {
    this.subscriber = redis.client.duplicate();
    // The connection of the process reports outages. This connection reconnects and subscribes again by itself.
    this.subscriber.on('error', () => undefined);
    this.subscriber.on('ready', () => void this.catchUp());
  }

  subscribe(listener: OnRest): void {
    this.listeners.push(listener);
  }

  publish(key: string, ms: number): void {
    const args = [key, String(Math.round(ms)), CHANNEL];
    this.redis.run((client) => ADD.run(client, [KEY], args)).catch(() => undefined);
  }

  onApplicationBootstrap(): void {
    // `connect` rejects only when the client is closed.
    this.subscriber.connect().catch(() => undefined);
  }

  onApplicationShutdown(): void {
    if (this.subscriber.isOpen) this.subscriber.destroy();
  }

  /** Subscribes again after each connect, and then reads the rests that were published in between. */
  private async catchUp(): Promise<void> {
    try {
      await this.subscriber.subscribe(CHANNEL, (message) => {
        const space = message.indexOf(' ');
        this.tell(message.slice(space + 1), Number(message.slice(0, space)));
      });
      const rests = (await this.redis.run((client) => LIST.run(client, [KEY], []))) as string[];
      for (let index = 0; index + 1 < rests.length; index += 2) this.tell(rests[index] ?? '', Number(rests[index + 1]));
    } catch {
      // The next connect tries again.
    }
  }

  private tell(key: string, ms: number): void {
    for (const listener of this.listeners) listener(key, ms);
  }
}
