import { RedisUnavailable } from '../../../../../../src/redis/redis-errors.js';
import type { RedisClient } from '../../../../../../src/redis/redis-client.js';
import type { Commands } from '../../../../../../src/redis/redis-connection.js';
import { FakeRedis, type Sent } from '../../../../throttling/fake-redis.js';

export const AWAY = new RedisUnavailable('away', false);
const MAX_REQUEST_MS = 1_000;

/** A command with the key by which its server was chosen, and whether a slow Redis gets the time that it needs. */
export interface StreamCommand extends Sent {
  readonly slot: string;
  readonly hasNoTimeout: boolean;
}

/** A connection for durable streams, whose answers the test gives. Commands have the names of the client. */
export class FakeStreamRedis extends FakeRedis {
  override readonly sent: StreamCommand[] = [];
  /** For how long Redis has been available. */
  availableMs = Infinity;
  /** The keys whose servers were asked for the length of their availability. */
  readonly availabilityOf: string[] = [];

  override availableForMs(key = ''): number {
    this.availabilityOf.push(key);
    return this.availableMs;
  }

  protected override async send<T>(slot: string, commands: Commands<T>, until = 0): Promise<T> {
    this.slots.push(slot);
    if (this.failure !== undefined) throw this.failure;
    const hasNoTimeout = until - performance.now() > MAX_REQUEST_MS;
    const reply = (name: string, keys: string[], args: unknown[]): Promise<unknown> => {
      const command = { name, keys, args: args as string[], slot, hasNoTimeout };
      this.sent.push(command);
      return Promise.resolve(this.answerTo(command));
    };
    const client = new Proxy({} as RedisClient, {
      get: (_, name: string) =>
        name === 'evalSha'
          ? (hash: string, { keys, arguments: args }: { keys: string[]; arguments: string[] }) =>
              reply(hash, keys, args)
          : (key: string, ...args: unknown[]) => reply(name, [key], args),
    });
    return commands(client);
  }

  protected answerTo(command: StreamCommand): unknown {
    return this.answer(command);
  }
}
