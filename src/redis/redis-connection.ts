import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { createClient, ErrorReply } from '@redis/client';
import { readSentinelUrl, type SentinelAddress } from '../config/sources/sentinel-url.js';
import { OutageLog } from '../common/outage-log.js';
import { within } from '../common/timers/within.js';
import { isOutageReply, isUnknownScript, RedisUnavailable } from './redis-unavailable.js';
import { RedisSlow } from './redis-slow.js';
import { sentinelLookup } from './sentinel-lookup.js';
import { SilenceWatch } from './silence-watch.js';

export type RedisClient = ReturnType<typeof openClient>;

/** A request waits this long for its answer while Redis answers others. SilenceWatch notices a silent Redis sooner. */
const PATIENCE_MS = 1000;
const PROBE_WAIT_MS = 250;
/** A probe writes this key, because a Redis that refuses writes is of no use. */
const PROBE_KEY = 'chat:probe';
const PROBE_KEY_LIFETIME_MS = 1000;
const CONNECT_TIMEOUT_MS = 2000;
/**
 * The client closes a connection after this time without traffic, for example while the connection is being set up. The
 * time is long, because the client's timer continues while the event loop is blocked. SilenceWatch closes a connection in
 * use sooner.
 */
const SET_UP_LIMIT_MS = 15_000;
const PING_EVERY_PROBES = 4;
/** The most commands without an answer. Further commands fail at once with RedisSlow. */
const MAX_UNANSWERED = 20_000;
const QUEUE_IS_FULL = 'The queue is full';
const PROBE_EVERY_MS = 500;
const RECONNECT_MOST_MS = 1000;

/**
 * The only connection of this process to Redis. The connection reconnects by itself. Until it is back, commands fail at
 * once instead of waiting in a queue.
 *
 * Redis is "unavailable" when the connection is refused or lost, or when no command gets an answer for half a
 * second. Redis is "slow" when it answers other commands, but not this command in time. Load can make Redis slow, so a slow
 * Redis must not make each replica admit its own share of the limits.
 */
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  /** For libraries that send their own commands. Call them inside {@link run}, which limits how long they wait. */
  readonly client: RedisClient;
  private readonly log = new OutageLog('Redis', 'each replica keeps its share of the limits until Redis is back');
  private readonly silence = new SilenceWatch(() => {
    this.becomeUnavailable('no answer in time');
    // The server may answer on a new connection.
    this.reconnect();
  });
  private readonly onBack: (() => void)[] = [];
  private readonly onUnavailable: (() => void)[] = [];
  private probing: NodeJS.Timeout | undefined;
  private probes = 0;
  private lastFailure = 'not connected yet';
  private isUsable = false;
  private isClosed = false;

  constructor(url: string) {
    this.client = openClient(url);
    this.client.on('error', (error: unknown) => {
      if (error instanceof Error) this.becomeUnavailable(reasonOf(error));
    });
    this.client.on('ready', () => void this.probe(false));
  }

  get isUnavailable(): boolean {
    return !this.isUsable || !this.client.isReady;
  }

  /** Calls the listener each time Redis becomes available, including the first time. */
  whenBack(listener: () => void): void {
    this.onBack.push(listener);
  }

  whenUnavailable(listener: () => void): void {
    this.onUnavailable.push(listener);
  }

  /** Connects to Redis. Does not fail when Redis is unavailable, because the process also works without Redis. */
  async onModuleInit(): Promise<void> {
    this.connect();
    await within(this.firstReady(), CONNECT_TIMEOUT_MS, () => new Error('no answer')).catch((error: unknown) => {
      if (this.isUnavailable) this.log.unavailable(`${this.lastFailure}, ${reasonOf(error)}`);
    });
  }

  /**
   * Runs commands on the client, and waits one second at most for their outcome.
   *
   * @throws {RedisUnavailable} when Redis is unavailable.
   * @throws {RedisSlow} when the answer does not come in time, or when too many commands wait already.
   * @example const count = await redis.run((client) => client.zCard('replicas'));
   */
  async run<T>(commands: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.attempt(() => within(this.watched(commands), PATIENCE_MS, () => new RedisSlow(true)));
  }

  /**
   * Runs commands that no request waits for. There is no time limit, so a slow Redis gets the time that it needs.
   *
   * @throws {RedisUnavailable} when Redis is unavailable.
   * @throws {RedisSlow} when too many commands wait already.
   */
  async runPatiently<T>(commands: (client: RedisClient) => Promise<T>): Promise<T> {
    return this.attempt(() => this.watched(commands));
  }

  async onApplicationShutdown(): Promise<void> {
    this.isClosed = true;
    clearInterval(this.probing);
    this.silence.stop();
    this.log.end();
    if (!this.client.isOpen) return;
    // `close` waits for the answers to open commands. A Redis that is stuck would never send them.
    await within(this.client.close(), PROBE_WAIT_MS, () => new Error('no answer')).catch(() => {
      if (this.client.isOpen) this.client.destroy();
    });
  }

  private async attempt<T>(run: () => Promise<T>): Promise<T> {
    if (this.isUnavailable) throw new RedisUnavailable(this.lastFailure, false);
    try {
      return await run();
    } catch (error) {
      // Libraries also reject with values that are not errors, such as the refusal of a rate limiter.
      if (!(error instanceof Error) || isUnknownScript(error) || error instanceof RedisSlow) throw error;
      if (error.message === QUEUE_IS_FULL) throw new RedisSlow(false, error);
      // The reply is about this command. Other commands still work.
      if (error instanceof ErrorReply && !isOutageReply(error)) throw error;
      this.becomeUnavailable(reasonOf(error));
      throw error instanceof RedisUnavailable ? error : new RedisUnavailable(reasonOf(error), true, { cause: error });
    }
  }

  private watched<T>(commands: (client: RedisClient) => Promise<T>): Promise<T> {
    this.silence.asked();
    const outcome = commands(this.client);
    outcome.then(
      () => {
        this.silence.settled(true);
      },
      (error: unknown) => {
        this.silence.settled(!(error instanceof Error) || error instanceof ErrorReply);
      },
    );
    return outcome;
  }

  private connect(): void {
    // The client retries until it is closed, so `connect` rejects only then. Each failure is an `error` event.
    this.client.connect().catch(() => undefined);
    this.probing ??= setInterval(() => void this.look(), PROBE_EVERY_MS).unref();
    this.silence.start();
  }

  private async firstReady(): Promise<void> {
    if (this.isUnavailable) await new Promise<void>((resolve) => this.onBack.push(resolve));
  }

  private async look(): Promise<void> {
    if (!this.isUsable) await this.probe(true);
    else if (this.probes++ % PING_EVERY_PROBES === 0) await this.run((client) => client.ping()).catch(() => undefined);
  }

  /**
   * Checks whether Redis is back. Requests never check this themselves.
   *
   * @param mayReconnect whether to connect again if Redis refuses the write. After a failover, another server may answer.
   */
  private async probe(mayReconnect: boolean): Promise<void> {
    if (this.isUsable || this.isClosed || !this.client.isReady) return;
    const expiration = { type: 'PX', value: PROBE_KEY_LIFETIME_MS } as const;
    try {
      const written = this.client.set(PROBE_KEY, '1', { expiration });
      await within(written, PROBE_WAIT_MS, () => new RedisUnavailable('no answer in time', true));
    } catch (error) {
      this.lastFailure = reasonOf(error);
      if (mayReconnect || !(error instanceof ErrorReply)) this.reconnect();
      return;
    }
    this.comeBack();
  }

  private reconnect(): void {
    if (this.isClosed || !this.client.isReady) return;
    this.client.destroy();
    this.connect();
  }

  private becomeUnavailable(reason: string): void {
    this.lastFailure = reason;
    if (this.isClosed || !this.isUsable) return;
    this.isUsable = false;
    this.log.unavailable(reason);
    for (const listener of this.onUnavailable) listener();
  }

  private comeBack(): void {
    if (this.isUsable) return;
    this.isUsable = true;
    this.log.back();
    for (const listener of this.onBack) listener();
  }
}

function openClient(url: string) {
  const group = readSentinelUrl(url);
  return createClient({
    ...(group === undefined ? { url } : credentialsOf(group)),
    // A command that cannot be sent now fails at once.
    disableOfflineQueue: true,
    commandsQueueMaxLength: MAX_UNANSWERED,
    socket: {
      ...(group && { host: group.master, port: group.port, lookup: sentinelLookup(group) }),
      connectTimeout: CONNECT_TIMEOUT_MS,
      socketTimeout: SET_UP_LIMIT_MS,
      reconnectStrategy: (retries) => Math.min(50 * 2 ** retries, RECONNECT_MOST_MS) * (0.5 + Math.random() / 2),
    },
  });
}

function credentialsOf({ username, password, database }: SentinelAddress) {
  return { database, ...(username !== undefined && { username }), ...(password !== undefined && { password }) };
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError) return reasonOf(error.errors[0]);
  return error instanceof Error ? error.message : String(error);
}
