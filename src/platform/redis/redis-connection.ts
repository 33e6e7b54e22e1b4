import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { OutageLog } from '../common/outage-log.js';
import { readRedisUrl } from '../config/sources/redis-url.js';
import { elapsedMs, startInterval } from '../common/timers/pace.js';
import { withTimeout } from '../common/timers/timeouts.js';
import { ClusterServers } from './cluster-servers.js';
import { CONNECT_TIMEOUT_MS, newClient, type RedisClient } from './redis-client.js';
import { RedisTimeout, RedisUnavailable } from './redis-errors.js';
import { ServerHealth, TICK_MS, type ServerEvents } from './server-health.js';

/** A request waits this long for its reply while Redis replies to others. `ServerHealth` notices sooner that Redis does not reply at all. */
const QUERY_TIMEOUT_MS = 1000;
const TICKS_PER_REVIEW = 5;
/** How long the replies to earlier commands may take at the end. A Redis that is stuck would never send them. */
const CLOSE_TIMEOUT_MS = 250;
const PROBE_KEY = 'chat:probe';
const CONSEQUENCE = 'each replica keeps its share of the limits until Redis is back';
const CONSEQUENCE_IN_CLUSTER =
  'for the accounts on this server, each replica keeps its share of the limits until it is back';

/** Commands for the keys of one slot. */
export type Commands<T> = (client: RedisClient) => Promise<T>;

interface Servers {
  readonly client: RedisClient;
  readonly all: readonly ServerHealth[];
  readonly isWhole: boolean;
  readonly lastFailure: string;
  of(key: string): ServerHealth | undefined;
  start(): void;
  /** Learns which servers there are. */
  refresh(): void;
  close(): void;
}

/**
 * The connection of this process to Redis: to one server, to the master that Sentinel names, or to the masters of a cluster. It
 * reconnects by itself. Until it is back, commands fail at once instead of waiting in a queue.
 *
 * A server is "unavailable" when the connection is refused or lost, when no command gets a reply for half a second, or when it
 * refuses writes. A master of a cluster that is unavailable concerns only the keys in its slots. Redis is "slow" when it replies to
 * other commands, but not this command in time. Load can make Redis slow, so a slow Redis must not make each replica admit its own
 * share of the limits.
 */
export class RedisConnection implements OnModuleInit, OnApplicationShutdown {
  private readonly onBack: (() => void)[] = [];
  private readonly onUnavailable: (() => void)[] = [];
  private readonly servers: Servers;
  private readonly log: OutageLog;
  private timer: NodeJS.Timeout | undefined;
  private ticks = 0;
  private isStarted = false;

  /** @param url a valid REDIS_URL. Call `onModuleInit` to connect. */
  constructor(url: string) {
    const address = readRedisUrl(url);
    if (typeof address === 'string') throw new Error(`REDIS_URL: ${address}`);
    const events: ServerEvents = {
      onUp: () => {
        this.review();
        for (const listener of this.onBack) listener();
      },
      onDown: () => {
        this.servers.refresh();
        this.review();
        if (this.isStarted) for (const listener of this.onUnavailable) listener();
      },
    };
    const isCluster = address.kind === 'cluster';
    this.servers = isCluster ? new ClusterServers(address, events) : singleServer(newClient(address), events);
    this.log = new OutageLog('Redis', isCluster ? CONSEQUENCE_IN_CLUSTER : CONSEQUENCE);
  }

  /** The client for a library, whose calls belong in {@link run}. */
  get client(): RedisClient {
    return this.servers.client;
  }

  /** Whether a server is unavailable. */
  get isUnavailable(): boolean {
    return !this.servers.isWhole;
  }

  isUnavailableFor(key: string): boolean {
    return this.servers.of(key)?.isUp !== true;
  }

  /** Returns for how long the server of the key has been available, or `Infinity` if there was no outage so far. */
  availableForMs(key: string): number {
    const server = this.servers.of(key);
    return server?.isUp === true ? elapsedMs() - server.availableSince : 0;
  }

  /**
   * Runs commands for a key, and waits one second at most for their outcome.
   *
   * @throws {RedisUnavailable} when the server of the key is unavailable.
   * @throws {RedisTimeout} when the reply does not come in time, or when too many commands wait already.
   * @example const count = await redis.run(KEY, (client) => client.zcard(KEY));
   */
  async run<T>(key: string, commands: Commands<T>): Promise<T> {
    return withTimeout(this.runWithoutTimeout(key, commands), QUERY_TIMEOUT_MS, () => new RedisTimeout(true));
  }

  /**
   * Runs commands that no request waits for. A slow Redis gets the time that it needs.
   *
   * @throws {RedisUnavailable} when the server of the key is unavailable.
   * @throws {RedisTimeout} when too many commands wait already.
   */
  async runWithoutTimeout<T>(key: string, commands: Commands<T>): Promise<T> {
    const server = this.servers.of(key);
    if (server === undefined) throw new RedisUnavailable(this.servers.lastFailure, false);
    return server.send(() => commands(this.servers.client));
  }

  /** Does on each server what admissions do. @throws {RedisUnavailable | RedisTimeout} if this does not work on one of them. */
  async check(): Promise<void> {
    if (this.isUnavailable) throw new RedisUnavailable(this.servers.lastFailure, false);
    await Promise.all(this.servers.all.map((server) => server.check()));
  }

  /** Calls the listener each time a server becomes available, including the first time. */
  whenBack(listener: () => void): void {
    this.onBack.push(listener);
  }

  /** Calls the listener each time a server becomes unavailable. */
  whenUnavailable(listener: () => void): void {
    this.onUnavailable.push(listener);
  }

  /** Connects to Redis. Does not fail when Redis is unavailable, because the process also works without Redis. */
  async onModuleInit(): Promise<void> {
    const isUp = new Promise<void>((resolve) => {
      this.whenBack(() => {
        if (this.servers.all.every((server) => server.isUp)) resolve();
      });
    });
    this.servers.start();
    this.timer = startInterval(() => {
      this.tick();
    }, TICK_MS).unref();
    await withTimeout(isUp, CONNECT_TIMEOUT_MS, () => new Error('no reply')).catch(() => undefined);
    this.isStarted = true;
    this.review();
  }

  async onApplicationShutdown(): Promise<void> {
    // The replies to earlier commands may still arrive, and are not logged.
    this.isStarted = false;
    clearInterval(this.timer);
    this.servers.close();
    const { client } = this.servers;
    await withTimeout(client.quit(), CLOSE_TIMEOUT_MS, () => new Error('no reply')).catch(() => undefined);
    if (client.status === 'end') return;
    // Then no command waits any more.
    const ended = new Promise<void>((resolve) => client.once('end', resolve));
    client.disconnect();
    await withTimeout(ended, CLOSE_TIMEOUT_MS, () => new Error('no end')).catch(() => undefined);
  }

  private tick(): void {
    for (const server of this.servers.all) server.tick();
    this.ticks += 1;
    if (!this.isStarted || this.ticks % TICKS_PER_REVIEW !== 0) return;
    if (this.isUnavailable) this.servers.refresh();
    this.review();
  }

  private review(): void {
    if (!this.isStarted) return;
    if (this.isUnavailable) this.log.unavailable(this.servers.lastFailure);
    else if (this.log.isOpen) this.logRecovery();
  }

  /** Logs the end of an outage when all servers work, because after a failover some of them refuse writes longer. */
  private logRecovery(): void {
    this.check().then(
      () => {
        if (!this.isUnavailable) this.log.back();
      },
      () => undefined,
    );
  }
}

function singleServer(client: RedisClient, events: ServerEvents): Servers {
  const server = new ServerHealth(client, () => PROBE_KEY, events);
  return {
    client,
    all: [server],
    get isWhole() {
      return server.isUp;
    },
    get lastFailure() {
      return server.lastFailure;
    },
    of: () => server,
    start: () => {
      server.start();
    },
    refresh: () => undefined,
    close: () => {
      server.close();
    },
  };
}

/** Injection token of the `RedisConnection`. The value is `undefined` when REDIS_URL is not set. */
export const REDIS = Symbol('REDIS');

/** Injection token of the `Membership`. The value is `undefined` when REDIS_URL is not set. */
export const MEMBERSHIP = Symbol('MEMBERSHIP');
