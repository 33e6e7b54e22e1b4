import { createHash } from 'node:crypto';
import type { RedisClient } from './redis-connection.js';
import { isUnknownScript } from './redis-away.js';

/** A Lua script, which Redis runs as a whole. All its keys must lie in one slot, by a hash tag. */
export class RedisScript {
  private readonly hash: string;

  constructor(private readonly source: string) {
    this.hash = createHash('sha1').update(source).digest('hex');
  }

  /** So that not even the first run has to bring the source. */
  async load(client: RedisClient): Promise<void> {
    await client.scriptLoad(this.source);
  }

  /** One round trip; a second one only when Redis has not seen the script yet. */
  async run(client: RedisClient, keys: string[], args: string[]): Promise<unknown> {
    try {
      return await client.evalSha(this.hash, { keys, arguments: args });
    } catch (error) {
      if (!isUnknownScript(error)) throw error;
      return client.eval(this.source, { keys, arguments: args });
    }
  }
}
