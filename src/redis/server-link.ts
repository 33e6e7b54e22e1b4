import { ErrorReply } from '@redis/client';
import { setTimeout as sleep } from 'node:timers/promises';
import { withTimeout } from '../common/timers/with-timeout.js';
import { connectTo, type RedisClient, type ServerAddress } from './redis-client.js';
import type { Commands } from './redis-connection.js';
import { RedisScript } from './redis-script.js';
import { isOutageReply, isUnknownScript, reasonOf, RedisUnavailable, RedisTimeout } from './redis-errors.js';
import { FlapDamping } from './flap-damping.js';
import { ConnectionIdleTimeout } from './connection-idle-timeout.js';

const PROBE_TIMEOUT_MS = 250;
const CHECK_TIMEOUT_MS = 1000;
const CHECK_EVERY_PROBES = 4;
const QUEUE_IS_FULL = 'The queue is full';
const PROBE_INTERVAL_MS = 500;
const MAX_RECONNECT_DELAY_MS = 1000;
/** Writes a key, because a Redis that refuses writes or scripts is of no use. */
const PROBE = new RedisScript("redis.call('TIME') return redis.call('SET', KEYS[1], '1', 'PX', 1000)");

export interface LinkOptions {
  /** Returns the address of the server, for each new connection. */
  readonly locate: () => Promise<ServerAddress>;
  /** Returns a key that the server holds, or `undefined` when there is none. */
  readonly probeKey: () => string | undefined;
  readonly onUp: () => void;
  readonly onDown: (reason: string) => void;
}

/**
 * The connection to one server, with its availability. Reconnects by itself, with a new client each time: a client of
 * @redis/client that reconnects opens its connection also after `destroy()`. Test: "closes a connection that comes too late".
 */
export class ServerLink {
  /** `opening` until the first success or failure. */
  state: 'opening' | 'up' | 'down' = 'opening';
  lastFailure = 'not connected yet';
  /** The end of the last outage, on the monotonic clock. */
  availableSince = -Infinity;
  private client: RedisClient | undefined;
  private readonly closing = new AbortController();
  private probing: NodeJS.Timeout | undefined;
  private probes = 0;
  private readonly flapDamping = new FlapDamping();
  private readonly waiting: (() => void)[] = [];
  private readonly idleTimeout = new ConnectionIdleTimeout(() => {
    this.goDown('no reply in time');
    // The server may reply on a new connection.
    this.reconnect();
  });

  constructor(private readonly options: LinkOptions) {}

  get isUp(): boolean {
    return this.state === 'up' && this.client !== undefined;
  }

  get isOpen(): boolean {
    return this.client?.isOpen === true;
  }

  start(): void {
    this.probing = setInterval(() => void this.tick(), PROBE_INTERVAL_MS).unref();
    this.idleTimeout.start();
    void this.stayConnected();
  }

  /** The server serves slots of a server that is lost, and may lack its last writes. This counts as the end of an outage. */
  takeOver(): void {
    this.availableSince = performance.now();
    if (this.isUp) this.options.onUp();
  }

  /** Resolves when the state is no longer `opening`. */
  async opened(): Promise<void> {
    if (this.state === 'opening') await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  /**
   * @throws {RedisUnavailable} when the server is unavailable.
   * @throws {RedisTimeout} when too many commands wait already.
   */
  async send<T>(commands: Commands<T>): Promise<T> {
    const { client } = this;
    if (this.state !== 'up' || client === undefined) throw new RedisUnavailable(this.lastFailure, false);
    try {
      return await this.timed(client, commands);
    } catch (error) {
      // Libraries also reject with values that are not errors, such as the refusal of a rate limiter.
      if (!(error instanceof Error) || isUnknownScript(error)) throw error;
      if (error.message === QUEUE_IS_FULL) throw new RedisTimeout(false, error);
      // The reply is about this command. Other commands still work.
      if (error instanceof ErrorReply && !isOutageReply(error)) throw error;
      this.fail(error);
      throw error instanceof RedisUnavailable ? error : new RedisUnavailable(reasonOf(error), true, { cause: error });
    }
  }

  /** Runs commands although the server may refuse writes. */
  async query<T>(commands: Commands<T>): Promise<T> {
    if (this.client === undefined) throw new RedisUnavailable(this.lastFailure, false);
    return this.timed(this.client, commands);
  }

  /** Does what admissions do: runs a script that writes. */
  async check(): Promise<void> {
    await withTimeout(this.send(probeWith(this.options.probeKey())), CHECK_TIMEOUT_MS, () => new RedisTimeout(true));
  }

  /** The server has refused a command, and will refuse others. */
  fail(error: Error): void {
    if (error instanceof ErrorReply) this.flapDamping.refused();
    this.goDown(reasonOf(error));
  }

  async close(): Promise<void> {
    this.closing.abort();
    clearInterval(this.probing);
    this.idleTimeout.stop();
    if (this.client?.isOpen !== true) return;
    // Replies come in order, so all pending commands have theirs before this one. A Redis that is stuck would never send it.
    await withTimeout(this.client.ping(), PROBE_TIMEOUT_MS, () => new Error('no reply')).catch(() => undefined);
    this.disconnect();
  }

  private async stayConnected(): Promise<void> {
    for (let failures = 0; !this.isClosed; failures++) {
      try {
        const client = await connectTo(await this.options.locate());
        failures = 0;
        await this.use(client);
      } catch (error) {
        this.goDown(reasonOf(error));
      }
      const delayMs = Math.min(50 * 2 ** failures, MAX_RECONNECT_DELAY_MS) * (0.5 + Math.random() / 2);
      await sleep(delayMs, undefined, { ref: false, signal: this.closing.signal }).catch(() => undefined);
    }
  }

  private get isClosed(): boolean {
    return this.closing.signal.aborted;
  }

  /** Resolves when the connection is closed. */
  private async use(client: RedisClient): Promise<void> {
    if (this.isClosed) {
      client.destroy();
      return;
    }
    this.client = client;
    const ended = new Promise<void>((resolve) => {
      client.once('error', (error: unknown) => {
        this.goDown(reasonOf(error));
        resolve();
      });
      client.once('end', resolve);
    });
    void this.probe(false);
    await ended;
    this.client = undefined;
    if (this.state !== 'down') this.goDown('the connection was closed');
    if (client.isOpen) client.destroy();
  }

  private timed<T>(client: RedisClient, commands: Commands<T>): Promise<T> {
    this.idleTimeout.sent();
    const outcome = commands(client);
    outcome.then(
      () => {
        this.idleTimeout.settled(true);
      },
      (error: unknown) => {
        this.idleTimeout.settled(!(error instanceof Error) || error instanceof ErrorReply);
      },
    );
    return outcome;
  }

  private async tick(): Promise<void> {
    if (this.state !== 'up') await this.probe(true);
    else if (this.probes++ % CHECK_EVERY_PROBES === 0) await this.check().catch(() => undefined);
  }

  /**
   * Checks whether the server is back. Requests never check this themselves.
   *
   * @param mayReconnect whether to connect again if the server refuses the write. After a failover, another may accept it.
   */
  private async probe(mayReconnect: boolean): Promise<void> {
    const { client } = this;
    if (this.state === 'up' || this.isClosed || client === undefined || this.flapDamping.isWaiting) return;
    try {
      const written = probeWith(this.options.probeKey())(client);
      await withTimeout(written, PROBE_TIMEOUT_MS, () => new RedisUnavailable('no reply in time', true));
    } catch (error) {
      this.goDown(reasonOf(error));
      if (this.client === client && (mayReconnect || !(error instanceof ErrorReply))) this.reconnect();
      return;
    }
    if (this.client === client) this.goUp();
  }

  private reconnect(): void {
    if (!this.isClosed) this.disconnect();
  }

  private disconnect(): void {
    if (this.client?.isOpen === true) this.client.destroy();
  }

  private goDown(reason: string): void {
    this.lastFailure = reason;
    if (this.isClosed || this.state === 'down') return;
    this.state = 'down';
    this.notifyOpened();
    this.options.onDown(reason);
  }

  private goUp(): void {
    if (this.isClosed || this.state === 'up') return;
    if (this.state === 'down' || this.availableSince !== -Infinity) {
      this.availableSince = performance.now();
      this.flapDamping.recovered();
    }
    this.state = 'up';
    this.notifyOpened();
    this.options.onUp();
  }

  private notifyOpened(): void {
    for (const resolve of this.waiting.splice(0)) resolve();
  }
}

function probeWith(key: string | undefined): Commands<unknown> {
  return (client) => (key === undefined ? client.ping() : PROBE.run(client, [key], []));
}
