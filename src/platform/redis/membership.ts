import type { BeforeApplicationShutdown } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { startInterval } from '../common/timers/pace.js';
import type { RedisConnection } from './redis-connection.js';
import { RedisScript } from './redis-script.js';

const KEY = 'chat:replicas';
/** Each replica knows of a new one after this time, also when it is cut off from Redis then. A replica needs longer to start. */
const BEAT_EVERY_MS = 1000;
/** A replica without a heartbeat for this long counts as dead. */
const DEAD_AFTER_MS = 15_000;

/** Records a heartbeat. ARGV: id of the replica. Returns the ids of all replicas. */
const BEAT = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ${DEAD_AFTER_MS}))
redis.call('PEXPIRE', KEYS[1], ${DEAD_AFTER_MS})
return redis.call('ZRANGE', KEYS[1], 0, -1)
`);

/** The running replicas that share Redis. Each replica has an id, and sends one heartbeat for all its features. */
export class Membership implements BeforeApplicationShutdown {
  /** The id of this replica, as long as the process runs. */
  readonly id = randomUUID();
  /** The replicas at the last heartbeat, with this one. They stay valid while Redis is unavailable. */
  private alive: ReadonlySet<string> = new Set([this.id]);
  private readonly listeners: ((replicas: number) => void)[] = [];
  private readonly counting: ((replicas: number) => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private hasLeft = false;
  /** Whether Redis has told which replicas there are. */
  hasBeaten = false;

  constructor(private readonly redis: RedisConnection) {
    redis.whenBack(() => {
      if (this.hasLeft) return;
      this.timer ??= startInterval(() => void this.beat().catch(() => undefined), BEAT_EVERY_MS);
      void this.beat().catch(() => undefined);
    });
  }

  /** Whether the replica lived at the last heartbeat of this replica. */
  isAlive(id: string): boolean {
    return this.alive.has(id);
  }

  /** Adds a listener that is called after each heartbeat, with the number of replicas. */
  whenBeaten(listener: (replicas: number) => void): void {
    this.listeners.push(listener);
  }

  /** Adds a listener that is also called by {@link assume}. */
  whenCounted(listener: (replicas: number) => void): void {
    this.counting.push(listener);
    this.whenBeaten(listener);
  }

  /** Takes the number of replicas from another source, for a replica that has started without Redis. */
  assume(replicas: number): void {
    if (this.hasBeaten) return;
    for (const listener of this.counting) listener(replicas);
  }

  /**
   * Sends a heartbeat, and learns which replicas live.
   *
   * @throws {RedisUnavailable | RedisTimeout} when Redis does not answer.
   */
  async beat(): Promise<void> {
    const ids = (await this.redis.run(KEY, (client) => BEAT.run(client, [KEY], [this.id]))) as string[];
    if (this.hasLeft) return;
    this.hasBeaten = true;
    this.alive = new Set([this.id, ...ids]);
    for (const listener of this.listeners) listener(this.alive.size);
  }

  /** Removes this replica from the others. In this hook, the connection to Redis is still open. */
  async beforeApplicationShutdown(): Promise<void> {
    this.hasLeft = true;
    clearInterval(this.timer);
    await this.redis.run(KEY, (client) => client.zrem(KEY, this.id)).catch(() => undefined);
  }
}
