import type { Redis } from 'ioredis';
import type { RedisConnection } from '../platform/redis/redis-connection.js';

/**
 * The Redis of `REDIS_URL` for one plugin: one server, a Sentinel group or a cluster, through the connection of the service. Without
 * `REDIS_URL`, `undefined` is injected. Every key has the prefix of the plugin.
 *
 * The service uses the same connection, so commands must be quick: no commands that block or that look through all keys, no
 * subscriptions, no transactions with `WATCH`, no `SELECT`, and nothing that closes the client.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * constructor(@Inject(PluginRedis) private readonly redis: PluginRedis | undefined) {}
 *
 * const count = await this.redis?.run(`jobs:${day}`, (client, key) => client.incr(key));
 * ```
 */
export class PluginRedis {
  /** The beginning of all keys: `chat:plugin:<name of the plugin>:`. */
  readonly prefix: string;

  constructor(
    private readonly redis: RedisConnection,
    plugin: string,
  ) {
    this.prefix = `chat:plugin:${plugin}:`;
  }

  /** Whether a server is unavailable, or was not reached yet. */
  get isUnavailable(): boolean {
    return this.redis.isUnavailable;
  }

  /** Returns the key with the prefix. */
  key(name: string): string {
    return this.prefix + name;
  }

  /**
   * Runs commands on the server of a key, and waits one second at most for their outcome. All keys of one call must be in one slot of a
   * cluster: give them the same hash tag, such as `{ada}:jobs` and `{ada}:done`.
   *
   * @param name the key without its prefix.
   * @param commands get the client of `ioredis` and the key with its prefix. In a cluster, each command goes to the server of its key.
   * @throws {Error} at once when Redis is unavailable, and after a second without a reply. It is unknown then whether a command that was
   * sent took effect.
   */
  run<T>(name: string, commands: (client: Redis, key: string) => Promise<T>): Promise<T> {
    const key = this.key(name);
    return this.redis.run(key, (client) => commands(client, key));
  }
}
