import { createHash } from 'node:crypto';
import type { RedisClient } from './redis-client.js';
import { isUnknownScript } from './redis-errors.js';

/** A Lua script, which Redis runs atomically. All keys of one call must be in one slot of a cluster: use a hash tag. */
export class RedisScript {
  private static readonly all: RedisScript[] = [];
  private readonly hash: string;

  constructor(private readonly source: string) {
    this.hash = createHash('sha1').update(source).digest('hex');
    RedisScript.all.push(this);
  }

  /**
   * Loads all scripts of the service. Commands that are sent afterwards find them. Without this, a settlement could need two round
   * trips, and later commands could overtake it.
   */
  static loadAll(client: RedisClient): void {
    for (const { source } of RedisScript.all) client.script('LOAD', source).catch(() => undefined);
  }

  /** Runs the script in one round trip. Needs a second round trip only when Redis does not know the script. */
  async run(client: RedisClient, keys: string[], args: (string | Buffer)[]): Promise<unknown> {
    try {
      return await client.evalsha(this.hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return client.eval(this.source, keys.length, ...keys, ...args);
    }
  }

  /** As {@link run}, but the texts of the reply are bytes. */
  async runForBytes(client: RedisClient, keys: string[], args: (string | Buffer)[]): Promise<unknown> {
    try {
      return await client.callBuffer('evalsha', this.hash, keys.length, ...keys, ...args);
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return client.callBuffer('eval', this.source, keys.length, ...keys, ...args);
    }
  }
}
