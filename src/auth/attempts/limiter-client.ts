import type { RedisConnection } from '../../redis/redis-connection.js';

interface ScriptArguments {
  readonly keys: string[];
  readonly arguments: string[];
}

/** The commands that rate-limiter-flexible uses of a client. Sends each command to the server of its key. */
export class LimiterClient {
  constructor(private readonly redis: RedisConnection) {}

  eval(script: string, options: ScriptArguments): Promise<unknown> {
    return this.redis.run(options.keys[0] ?? '', (client) => client.eval(script, options));
  }

  multi(): Reading {
    return new Reading(this.redis);
  }
}

/** Reads a counter and its remaining time. */
class Reading {
  private key = '';

  constructor(private readonly redis: RedisConnection) {}

  get(key: string): this {
    this.key = key;
    return this;
  }

  pTTL(): this {
    return this;
  }

  exec(): Promise<[points: string | null, leftMs: number]> {
    const { key } = this;
    return this.redis.run(key, (client) => Promise.all([client.get(key), client.pTTL(key)]));
  }
}
