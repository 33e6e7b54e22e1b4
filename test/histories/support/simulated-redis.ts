import { createHash } from 'node:crypto';
import { onTestFinished } from 'vitest';
import { withTimeout } from '../../../src/platform/common/timers/timeouts.js';
import { newClient, type RedisClient } from '../../../src/platform/redis/redis-client.js';
import type { Commands, RedisConnection } from '../../../src/platform/redis/redis-connection.js';
import { RedisTimeout, RedisUnavailable } from '../../../src/platform/redis/redis-errors.js';
import type { RedisScript } from '../../../src/platform/redis/redis-script.js';
import { Lost, type Link, type LinkState } from './link.js';
import type { VirtualTime } from './virtual-time.js';

const NOW = 'chat-test:now';
/** Gives a script the time of the test. */
const PRELUDE = `
local real, now = redis, tonumber(redis.call('GET', '${NOW}'))
local redis = { call = function(command, ...)
  if command == 'TIME' then return {math.floor(now / 1000), (now % 1000) * 1000} end
  return real.call(command, ...)
end }
`;
/** As in `RedisConnection`. */
const QUERY_TIMEOUT_MS = 1_000;
/** A link that hangs for so long counts as lost, and a lost one is connected again after so long. */
const SILENT_MS = 600;
const RECONNECT_MS = 500;

/** Lets scripts of the service read the time of the test, until the test ends: other files of the process have the same scripts. */
export function giveTime(scripts: readonly RedisScript[]): void {
  for (const script of scripts) {
    const source = Reflect.get(script, 'source') as string;
    replaceSource(script, PRELUDE + source);
    onTestFinished(() => {
      replaceSource(script, source);
    });
  }
}

function replaceSource(script: RedisScript, source: string): void {
  Reflect.set(script, 'source', source);
  Reflect.set(script, 'hash', createHash('sha1').update(source).digest('hex'));
}

/** Connects as the service does. Call this before the time stands still. */
export async function connectedClient(url: string): Promise<RedisClient> {
  const client = newClient({ kind: 'server', url, database: Number(new URL(url).pathname.slice(1)) });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

/**
 * The connection of one simulated replica to a real Redis, with the clock of the test. Commands take the way over a {@link Link}, and
 * the availability follows from it as from a real connection.
 */
export class SimulatedRedis {
  isUnavailable = false;
  private readonly onBack: (() => void)[] = [];
  private readonly onUnavailable: (() => void)[] = [];
  private since = -Infinity;
  private silence = 0;

  constructor(
    private readonly time: VirtualTime,
    private readonly link: Link,
    private readonly client: RedisClient,
  ) {}

  get asConnection(): RedisConnection {
    return this as unknown as RedisConnection;
  }

  isUnavailableFor(): boolean {
    return this.isUnavailable;
  }

  availableForMs(): number {
    return this.isUnavailable ? 0 : this.time.nowMs - this.since;
  }

  whenBack(listener: () => void): void {
    this.onBack.push(listener);
  }

  whenUnavailable(listener: () => void): void {
    this.onUnavailable.push(listener);
  }

  run<T>(key: string, commands: Commands<T>): Promise<T> {
    return withTimeout(this.runWithoutTimeout(key, commands), QUERY_TIMEOUT_MS, () => new RedisTimeout(true));
  }

  async runWithoutTimeout<T>(_: string, commands: Commands<T>): Promise<T> {
    if (this.isUnavailable) throw new RedisUnavailable('not connected', false);
    try {
      return await this.link.call(() => {
        // In order on one connection: nobody waits for this reply.
        void this.client.set(NOW, String(this.time.nowMs));
        return commands(this.client);
      });
    } catch (error) {
      if (!(error instanceof Lost)) throw error;
      throw new RedisUnavailable(error.message, error.wasSent, { cause: error });
    }
  }

  /** Changes the link, in a step of the replica. */
  set(state: LinkState): void {
    const silence = ++this.silence;
    // Replies that were lost cannot come on this connection.
    if (state === 'cut' || this.link.state === 'deaf') this.goDown();
    this.link.set(state);
    if (state === 'cut') return;
    if (state === 'up') {
      this.time.after(RECONNECT_MS, () => {
        if (this.link.state === 'up') this.goUp();
      });
    } else {
      this.time.after(SILENT_MS, () => {
        if (silence !== this.silence) return;
        this.link.reset();
        this.goDown();
      });
    }
  }

  private goDown(): void {
    if (this.isUnavailable) return;
    this.isUnavailable = true;
    for (const listener of this.onUnavailable) listener();
  }

  private goUp(): void {
    if (!this.isUnavailable) return;
    this.isUnavailable = false;
    this.since = this.time.nowMs;
    for (const listener of this.onBack) listener();
  }
}
