import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import type { RedisClient, RedisConnection } from '../../redis/redis-connection.js';
import { RedisScript } from '../../redis/redis-script.js';

/** A sorted set: the key of a route or an upstream, by the end of its rest in the time of Redis. */
const KEY = 'chat:rests';
/** A connection without traffic is closed after 15 seconds. A ping keeps the connection, and finds out if it is lost. */
const PING_EVERY_MS = 5_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
`;

/** Adds a rest and tells all replicas. ARGV: key of the route, time in milliseconds, channel, id of this replica. */
const ADD = new RedisScript(`${NOW}
redis.call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
return redis.call('PUBLISH', ARGV[3], ARGV[4] .. ' ' .. ARGV[2] .. ' ' .. ARGV[1])
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
  private readonly channel: string;
  private readonly replica = randomUUID();

  constructor(private readonly redis: RedisConnection) {
    this.subscriber = redis.client.duplicate({ pingInterval: PING_EVERY_MS });
    // All databases of a server share its channels.
    this.channel = `chat:rests:${redis.client.options.database ?? 0}`;
    // The connection of the process reports outages. This connection reconnects and subscribes again by itself.
    this.subscriber.on('error', () => undefined);
    this.subscriber.on('ready', () => void this.catchUp());
    // Either of the two connections can be the last one that is ready.
    redis.whenBack(() => void this.readMissed());
  }

  subscribe(listener: OnRest): void {
    this.listeners.push(listener);
  }

  publish(key: string, ms: number): void {
    const args = [key, String(Math.round(ms)), this.channel, this.replica];
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
      // The client ignores a listener that it knows.
      await this.subscriber.subscribe(this.channel, this.heard);
    } catch {
      // The next connect tries again.
    }
    await this.readMissed();
  }

  private async readMissed(): Promise<void> {
    try {
      const rests = (await this.redis.run((client) => LIST.run(client, [KEY], []))) as string[];
      for (let index = 0; index + 1 < rests.length; index += 2) this.tell(rests[index] ?? '', Number(rests[index + 1]));
    } catch {
      // Reads again when Redis is back.
    }
  }

  /** @param message the id of the replica, the time in milliseconds, and the key, which can contain spaces. */
  private readonly heard = (message: string): void => {
    const [replica = '', ms = ''] = message.split(' ', 2);
    // This replica rests already, and must not rest longer because of the way through Redis.
    if (replica !== this.replica) this.tell(message.slice(replica.length + ms.length + 2), Number(ms));
  };

  private tell(key: string, ms: number): void {
    for (const listener of this.listeners) listener(key, ms);
  }
}
