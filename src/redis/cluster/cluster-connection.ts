import { setTimeout as sleep } from 'node:timers/promises';
import { OutageLog } from '../../common/outage-log.js';
import { within } from '../../common/timers/within.js';
import type { RedisAddress } from '../../config/sources/redis-url.js';
import { CONNECT_TIMEOUT_MS, type RedisClient } from '../redis-client.js';
import { RedisConnection, type Commands } from '../redis-connection.js';
import { RedisSlow } from '../redis-slow.js';
import { RedisUnavailable } from '../redis-unavailable.js';
import type { ServerLink } from '../server-link.js';
import { asking } from './asking.js';
import { ClusterLinks } from './cluster-links.js';
import { readRedirection } from './redirection.js';

const LOOK_EVERY_MS = 500;
/** How long a command waits for a slot that moves at this moment. */
const AGAIN_AFTER_MS = 25;
const MOST_REDIRECTIONS = 10;
const CONSEQUENCE = 'for the accounts on this server, each replica keeps its share of the limits until it is back';

/**
 * The connections to the masters of a Redis Cluster. A master that is unavailable concerns only the keys in its slots.
 * Commands follow the slots when they move, and after a failover.
 */
export class ClusterConnection extends RedisConnection {
  readonly database = 0;
  private readonly log = new OutageLog('Redis', CONSEQUENCE);
  private readonly links: ClusterLinks;
  private looking: NodeJS.Timeout | undefined;
  private isStarted = false;

  constructor(address: Extract<RedisAddress, { kind: 'cluster' }>) {
    super();
    this.links = new ClusterLinks(address, {
      onUp: () => {
        this.review();
        this.tellBack();
      },
      onDown: () => {
        this.review();
        this.tellUnavailable();
        void this.refresh();
      },
    });
  }

  get isUnavailable(): boolean {
    return !this.links.isWhole;
  }

  get isOpen(): boolean {
    return this.links.all.some(({ isOpen }) => isOpen);
  }

  isUnavailableFor(key: string): boolean {
    return this.links.of(key)?.isUp !== true;
  }

  availableForMs(key: string): number {
    const link = this.links.of(key);
    return link?.isUp === true ? performance.now() - link.availableSince : 0;
  }

  async runOnEach(commands: Commands<unknown>): Promise<void> {
    await Promise.allSettled(this.links.all.map((link) => link.send(commands)));
  }

  async check(): Promise<void> {
    if (!this.links.isWhole) throw new RedisUnavailable(this.links.lastFailure, false);
    await Promise.all(this.links.masters.map((link) => this.checkOne(link)));
  }

  async openAnother({
    key,
    pingEveryMs,
  }: {
    readonly key?: string;
    readonly pingEveryMs?: number;
  }): Promise<RedisClient> {
    return this.links.open(key, pingEveryMs);
  }

  async onModuleInit(): Promise<void> {
    const connected = this.refresh().then(() => Promise.all(this.links.masters.map((link) => link.opened())));
    await Promise.race([connected, sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
    this.isStarted = true;
    this.review();
    this.looking = setInterval(() => {
      if (this.links.isWhole) this.review();
      else void this.refresh();
    }, LOOK_EVERY_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    // What was asked before may still be answered, and is not logged.
    this.isStarted = false;
    clearInterval(this.looking);
    this.log.end();
    await this.links.close();
  }

  protected async send<T>(key: string, commands: Commands<T>, until: number): Promise<T> {
    let asked: ServerLink | undefined;
    for (let redirections = 0; ; redirections++) {
      const link: ServerLink | undefined = asked ?? this.links.of(key);
      if (link === undefined) throw new RedisUnavailable(this.links.lastFailure, false);
      await this.opened(link, until);
      try {
        return await link.send(link === asked ? (client) => commands(asking(client)) : commands);
      } catch (error) {
        const redirection = readRedirection(error);
        if (redirection === undefined) throw error;
        if (redirection.kind !== 'again' && redirections > MOST_REDIRECTIONS) throw new RedisSlow(false, error);
        asked = undefined;
        if (redirection.kind === 'again') await sleep(AGAIN_AFTER_MS);
        else if (redirection.kind === 'ask') asked = this.links.at(redirection.to, link);
        else this.links.move(redirection.slot, redirection.to, link);
        if (performance.now() > until) throw new RedisSlow(false, error);
      }
    }
  }

  /** A server that was not known before needs a moment for its first connection. */
  private async opened(link: ServerLink, until: number): Promise<void> {
    if (link.state !== 'opening') return;
    const late = () => new RedisUnavailable(this.links.lastFailure, false);
    await within(link.opened(), Math.max(0, until - performance.now()), late);
  }

  /** Reads the map of slots. Slots that have a new master may be available again. */
  private async refresh(): Promise<void> {
    await this.links.refresh();
    this.review();
  }

  private review(): void {
    if (!this.isStarted) return;
    if (!this.links.isWhole) this.log.unavailable(this.links.lastFailure);
    else if (this.log.isOpen) this.tellWhole();
  }

  /** The log tells the end of an outage when all masters work, because after a failover some of them refuse writes longer. */
  private tellWhole(): void {
    this.check().then(
      () => {
        if (this.links.isWhole) this.log.back();
      },
      () => undefined,
    );
  }

  private async checkOne(link: ServerLink): Promise<void> {
    try {
      await link.check();
    } catch (error) {
      if (readRedirection(error) === undefined) throw error;
      // The server works, but no longer serves this slot.
      await this.refresh();
    }
  }
}
