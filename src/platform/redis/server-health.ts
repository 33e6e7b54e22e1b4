import { ReplyError, type Redis } from 'ioredis';
import { elapsedMs } from '../common/timers/pace.js';
import { withTimeout } from '../common/timers/timeouts.js';
import type { RedisClient } from './redis-client.js';
import { isOutageReply, isUnknownScript, reasonOf, RedisTimeout, RedisUnavailable } from './redis-errors.js';
import { RedisScript } from './redis-script.js';

/** The time between two calls of {@link ServerHealth.tick}. */
export const TICK_MS = 100;
/** The first command can come just before a tick, so six ticks are a silence of 500 to 600 ms. */
const SILENT_TICKS = 6;
const TICKS_PER_PROBE = 5;
const TICKS_PER_CHECK = 20;
const PROBE_TIMEOUT_MS = 250;
const CHECK_TIMEOUT_MS = 1000;
/** The most commands without a reply. Further commands fail at once with RedisTimeout. */
const MAX_PENDING_COMMANDS = 20_000;
const IS_CLUSTER = 'the server is part of a cluster: REDIS_URL must be redis+cluster://host:port,…';
/** Writes a key, because a Redis that refuses writes or scripts is of no use. */
const PROBE = new RedisScript("redis.call('TIME') return redis.call('SET', KEYS[1], '1', 'PX', 1000)");

export interface ServerEvents {
  readonly onUp: () => void;
  readonly onDown: (reason: string) => void;
}

/**
 * The availability of one server, whose client connects and reconnects by itself.
 *
 * A server is silent if commands wait and no byte arrives for half a second. The connection is then replaced. Many commands, slow
 * replies and a blocked event loop do not count, because the sockets are read before each tick. The `socketTimeout` of ioredis is one
 * timer, which expires after a blocked event loop before the socket is read.
 */
export class ServerHealth {
  /** `opening` until the first success or failure. */
  state: 'opening' | 'up' | 'down' = 'opening';
  lastFailure = 'not connected yet';
  private readonly flapDamping = new FlapDamping();
  private ticks = 0;
  private silentTicks = 0;
  private bytesRead = 0;
  private isOver = false;
  /** The server is part of a cluster, and the connection is none to a cluster. This lasts until a restart. */
  private isMisconfigured = false;

  /**
   * @param probeKey returns a key that the server holds.
   * @param availableSince the end of the last outage, on the monotonic clock.
   */
  constructor(
    readonly client: RedisClient,
    private readonly probeKey: () => string | undefined,
    private readonly events: ServerEvents,
    public availableSince = -Infinity,
  ) {
    client.on('ready', this.onReady).on('error', this.onError).on('close', this.onClose);
  }

  /** Connects, unless the client is connected already. */
  start(): void {
    if (this.client.status === 'ready') this.onReady();
    else if (this.client.status === 'wait') this.client.connect().catch(() => undefined);
  }

  get isUp(): boolean {
    return this.state === 'up' && this.client.status === 'ready' && !this.isOver;
  }

  /**
   * Runs commands that use this server.
   *
   * @throws {RedisUnavailable} when the server is unavailable.
   * @throws {RedisTimeout} when too many commands wait already.
   */
  async send<T>(commands: () => Promise<T>): Promise<T> {
    if (!this.isUp) throw new RedisUnavailable(this.lastFailure, false);
    if (this.client.commandQueue.length >= MAX_PENDING_COMMANDS) throw new RedisTimeout(false);
    try {
      return await commands();
    } catch (error) {
      throw this.meaningOf(error);
    }
  }

  /** Does what admissions do: runs a script that writes. */
  async check(): Promise<void> {
    const probed = this.send(() => this.write());
    await withTimeout(probed, CHECK_TIMEOUT_MS, () => new RedisTimeout(true));
  }

  /** Probes the server when it is time. Call this every {@link TICK_MS}. */
  tick(): void {
    this.ticks += 1;
    this.noticeSilence();
    if (this.ticks % TICKS_PER_PROBE === 0 && this.state !== 'up') void this.probe(true);
    if (this.ticks % TICKS_PER_CHECK === 0 && this.isUp) this.check().catch(() => undefined);
  }

  /** Ends the probes. Further commands fail at once. */
  close(): void {
    this.isOver = true;
    this.client.off('ready', this.onReady).off('close', this.onClose);
  }

  private readonly onReady = (): void => void this.probe(false);
  private readonly onError = (error: unknown): void => {
    this.goDown(reasonOf(error));
  };
  private readonly onClose = (): void => {
    if (this.state !== 'down') this.goDown('the connection was closed');
  };

  private meaningOf(error: unknown): unknown {
    // Libraries also reject with values that are not errors, such as the refusal of a rate limiter.
    if (!(error instanceof Error) || isUnknownScript(error)) return error;
    if (error.message.startsWith('Too many Cluster redirections')) return new RedisTimeout(false, error);
    if (error instanceof ReplyError) {
      // The reply is about this command. Other commands still work.
      if (!isOutageReply(error) && !error.message.startsWith('MOVED')) return error;
      this.refused(error);
    }
    return new RedisUnavailable(this.state === 'down' ? this.lastFailure : reasonOf(error), true, { cause: error });
  }

  /** The server has refused a command, and will refuse others. */
  private refused({ message }: Error): void {
    this.flapDamping.refused();
    this.isMisconfigured ||= message.startsWith('MOVED');
    this.goDown(this.isMisconfigured ? IS_CLUSTER : message);
  }

  private noticeSilence(): void {
    const { commandQueue, status } = this.client;
    const stream = this.client.stream as Redis['stream'] | undefined;
    const isWaiting = (status === 'ready' || status === 'connect') && commandQueue.length > 0;
    const isSilent = isWaiting && stream?.bytesRead === this.bytesRead;
    this.bytesRead = stream?.bytesRead ?? 0;
    this.silentTicks = isSilent ? this.silentTicks + 1 : 0;
    if (this.silentTicks < SILENT_TICKS) return;
    this.silentTicks = 0;
    this.goDown('no reply in time');
    // The server may reply on a new connection.
    stream?.destroy();
  }

  /**
   * Checks whether the server is back. Requests never check this themselves.
   *
   * @param mayReconnect whether to connect again if the server refuses the write. After a failover, another may accept it.
   */
  private async probe(mayReconnect: boolean): Promise<void> {
    const { client } = this;
    const { stream } = client;
    if (this.state === 'up' || this.isOver || client.status !== 'ready') return;
    if (this.isMisconfigured || this.flapDamping.isWaiting) return;
    try {
      await withTimeout(this.write(), PROBE_TIMEOUT_MS, () => new RedisUnavailable('no reply in time', true));
    } catch (error) {
      const isReply = error instanceof ReplyError;
      if (isReply && reasonOf(error).startsWith('MOVED')) this.refused(error as Error);
      else this.goDown(reasonOf(error));
      if (mayReconnect || !isReply) stream.destroy();
      return;
    }
    if (client.stream !== stream) return;
    RedisScript.loadAll(client);
    this.goUp();
  }

  private write(): Promise<unknown> {
    const key = this.probeKey();
    return key === undefined ? this.client.ping() : PROBE.run(this.client, [key], []);
  }

  private goDown(reason: string): void {
    this.lastFailure = reason;
    if (this.isOver || this.state === 'down') return;
    this.state = 'down';
    this.events.onDown(reason);
  }

  private goUp(): void {
    if (this.isOver || this.state === 'up') return;
    if (this.state === 'down' || this.availableSince !== -Infinity) {
      this.availableSince = elapsedMs();
      this.flapDamping.recovered();
    }
    this.state = 'up';
    this.events.onUp();
  }
}

const FLAP_WINDOW_MS = 10_000;
const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 60_000;

/**
 * Delays the return of a server that allows the probe, but soon refuses another command, for example because its user has no
 * permission for it, or because its memory is almost full. Without a delay, the server would come and go several times a
 * second.
 */
export class FlapDamping {
  private delayMs = 0;
  private recoveredAt = -Infinity;
  private until = -Infinity;

  get isWaiting(): boolean {
    return elapsedMs() < this.until;
  }

  recovered(): void {
    this.recoveredAt = elapsedMs();
  }

  /** The server has refused a command. Each refusal soon after a return doubles the delay. */
  refused(): void {
    const now = elapsedMs();
    if (this.isWaiting) return;
    const isFlap = now - this.recoveredAt < FLAP_WINDOW_MS + this.delayMs;
    this.delayMs = isFlap ? Math.min(MAX_DELAY_MS, Math.max(FIRST_DELAY_MS, 2 * this.delayMs)) : 0;
    this.until = now + this.delayMs;
  }
}
