import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { PeriodicTask } from '../../platform/common/timers/periodic-task.js';
import type { RedisConnection } from '../../platform/redis/redis-connection.js';
import { RedisScript } from '../../platform/redis/redis-script.js';

/** A sorted set: the key of a route or an upstream, by the end of its cooldown in the time of Redis. */
const KEY = 'chat:cooldowns';
const READ_EVERY_MS = 250;
/** A cooldown that ends later by less than this is a known one: the replies of Redis take different times. */
const SAME_END_MS = 1_000;
/** Marks the key of a circuit that an operator has closed. No name of an upstream begins with it. */
const CLOSED = '!';
/** How long the replicas can read that a circuit was closed. */
const CLOSED_MS = 10_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** Adds a cooldown, or removes it. ARGV: key of the route, time in milliseconds, and the key of a cooldown that ends. */
const ADD = new RedisScript(`${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))
if ARGV[3] then redis.call('ZREM', KEYS[1], ARGV[3]) end
redis.call('ZADD', KEYS[1], 'GT', string.format('%.0f', now + ARGV[2]), ARGV[1])
local last = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
redis.call('PEXPIREAT', KEYS[1], last[2])
`);

/** Returns the cooldowns that are not over, as pairs of key and remaining milliseconds. */
const LIST = new RedisScript(`${NOW}
local cooldowns = redis.call('ZRANGE', KEYS[1], string.format('%.0f', now), '+inf', 'BYSCORE', 'WITHSCORES')
for i = 2, #cooldowns, 2 do cooldowns[i] = string.format('%.0f', cooldowns[i] - now) end
return cooldowns
`);

/** @param ms 0 when an operator has closed the circuit. */
type OnCooldown = (key: string, ms: number) => void;

/**
 * Shares the cooldowns that providers ask for, and the circuits that operators close, between all replicas: each replica reads them
 * four times a second. While Redis is unavailable, each replica applies its own.
 */
export class RedisCooldowns implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly listeners: OnCooldown[] = [];
  /** The ends of the cooldowns that this replica knows, by its own clock. */
  private readonly ends = new Map<string, number>();
  private readonly task = new PeriodicTask(() => this.read());

  constructor(private readonly redis: RedisConnection) {}

  subscribe(listener: OnCooldown): void {
    this.listeners.push(listener);
  }

  /** @param ms 0 closes the circuit at all replicas. */
  publish(key: string, ms: number): void {
    const [name, forMs] = ms === 0 ? [CLOSED + key, CLOSED_MS] : [key, ms];
    this.isNew(name, forMs);
    const args = [name, String(Math.round(forMs)), ...(ms === 0 ? [key] : [])];
    if (ms === 0) this.ends.delete(key);
    this.redis.run(KEY, (client) => ADD.run(client, [KEY], args)).catch(() => undefined);
  }

  onApplicationBootstrap(): void {
    this.task.start(0);
  }

  onApplicationShutdown(): void {
    void this.task.stop();
  }

  private async read(): Promise<number> {
    try {
      const found = (await this.redis.run(KEY, (client) => LIST.run(client, [KEY], []))) as string[];
      for (let index = 0; index + 1 < found.length; index += 2) {
        const [key = '', ms] = [found[index], Number(found[index + 1])];
        if (this.isNew(key, ms)) this.notify(key, ms);
      }
    } catch {
      // The next round reads again. The connection reports outages.
    }
    return READ_EVERY_MS;
  }

  private notify(name: string, ms: number): void {
    const isClosed = name.startsWith(CLOSED);
    const key = isClosed ? name.slice(CLOSED.length) : name;
    if (isClosed) this.ends.delete(key);
    for (const listener of this.listeners) listener(key, isClosed ? 0 : ms);
  }

  /** Records the end of a cooldown. Returns whether the cooldown is new, or longer than the known one. */
  private isNew(key: string, ms: number): boolean {
    const end = performance.now() + ms;
    if (end < (this.ends.get(key) ?? -Infinity) + SAME_END_MS) return false;
    this.ends.set(key, end);
    return true;
  }
}
