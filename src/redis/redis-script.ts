import { createHash } from 'node:crypto';
import type { RedisClient } from './redis-client.js';
import { isUnknownScript } from './redis-errors.js';

/** A Lua script, which Redis runs atomically. All keys of one call must be in one slot of a cluster: use a hash tag. */
export class RedisScript {
  private readonly hash: string;

  constructor(private readonly source: string) {
    this.hash = createHash('sha1').update(source).digest('hex');
  }

  /** Loads the script, so that even the first run does not send the source. */
  async load(client: RedisClient): Promise<void> {
    await client.scriptLoad(this.source);
  }

  /** Runs the script in one round trip. Needs a second round trip only when Redis does not know the script. */
  async run(client: RedisClient, keys: string[], args: (string | Buffer)[]): Promise<unknown> {
    try {
      return await client.evalSha(this.hash, { keys, arguments: args });
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return client.eval(this.source, { keys, arguments: args });
    }
  }
}
