import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '../../redis/redis-connection.js';
import { RedisScript } from '../../redis/redis-script.js';
import type { LimitFallback } from '../limit-fallback.js';

const KEY = 'chat:replicas';
const BEAT_EVERY_MS = 5000;
/** A replica without a heartbeat for this long counts as dead. */
const GONE_AFTER_MS = 15_000;

/** Records a heartbeat. ARGV: id of the replica. Returns the number of replicas. */
const BEAT = new RedisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZADD', KEYS[1], string.format('%.0f', now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - ${GONE_AFTER_MS}))
redis.call('PEXPIRE', KEYS[1], ${GONE_AFTER_MS})
return redis.call('ZCARD', KEYS[1])
`);

/** Sends the heartbeats of this replica, and counts all replicas. */
export class ReplicaCount {
  private readonly id = randomUUID();
  private timer: NodeJS.Timeout | undefined;
  private hasLeft = false;

  constructor(
    private readonly redis: RedisConnection,
    private readonly fallback: LimitFallback,
  ) {
    redis.whenBack(() => {
      if (this.hasLeft) return;
      this.timer ??= setInterval(() => void this.beat(), BEAT_EVERY_MS).unref();
      void this.beat();
    });
  }

  /** Removes this replica from the count. Call this while the connection to Redis is still open. */
  async leave(): Promise<void> {
    this.hasLeft = true;
    clearInterval(this.timer);
    await this.redis.run(KEY, (client) => client.zRem(KEY, this.id)).catch(() => undefined);
  }

  private async beat(): Promise<void> {
    try {
      this.fallback.replicas = Math.max(
        1,
        Number(await this.redis.run(KEY, (client) => BEAT.run(client, [KEY], [this.id]))),
      );
    } catch {
      // The last known number stays valid.
    }
  }
}
