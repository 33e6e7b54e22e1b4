import { Inject, Injectable } from '@nestjs/common';
import { RedisUnavailable } from './redis-errors.js';
import { type RedisConnection, REDIS } from './redis-connection.js';

/** Reports to readiness probes whether Redis is available. */
@Injectable()
export class RedisHealth {
  constructor(@Inject(REDIS) private readonly redis: RedisConnection | undefined) {}

  /**
   * Returns whether admissions work on Redis, in a cluster on all masters. Returns `undefined` when no Redis is configured.
   * Never throws. Takes one second at most.
   */
  async ping(): Promise<boolean | undefined> {
    if (this.redis === undefined) return undefined;
    try {
      await this.redis.check();
      return true;
    } catch (error) {
      return !(error instanceof RedisUnavailable);
    }
  }
}
