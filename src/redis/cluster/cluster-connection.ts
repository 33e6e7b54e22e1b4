import { setTimeout as sleep } from 'node:timers/promises';
import { OutageLog } from '../../common/outage-log.js';
import { withTimeout } from '../../common/timers/with-timeout.js';
import type { RedisAddress } from '../../config/sources/redis-url.js';
import { CONNECT_TIMEOUT_MS } from '../redis-client.js';
import { RedisConnection, type Commands } from '../redis-connection.js';
import { RedisUnavailable, RedisTimeout } from '../redis-errors.js';
import type { ServerLink } from '../server-link.js';
import { readRedirection, asking } from './redirection.js';
import { ClusterLinks } from './cluster-links.js';

const REVIEW_INTERVAL_MS = 500;
/** How long a command waits for a slot that moves at this moment. */
const RETRY_DELAY_MS = 25;
const MAX_REDIRECTIONS = 10;
const CONSEQUENCE = 'for the accounts on this server, each replica keeps its share of the limits until it is back';

/**
 * The connections to the masters of a Redis Cluster. A master that is unavailable concerns only the keys in its slots.
 * Commands follow the slots when they move, and after a failover.
 *
 * `createCluster` of @redis/client reads the slots again only after a redirection, and never retries after TRYAGAIN. With it,
 * these tests of test/stores/redis-cluster.test.ts fail: "go on when a master is killed, say so once, and are exact after the
 * failover", "count all other accounts as before while a part of the cluster is lost", and "wait for an account whose keys
 * are on two servers, and follow its keys before its slot".
 */
export class ClusterConnection extends RedisConnection {
  private readonly log = new OutageLog('Redis', CONSEQUENCE);
  private readonly links: ClusterLinks;
  private reviewing: NodeJS.Timeout | undefined;
  private isStarted = false;

  constructor(address: Extract<RedisAddress, { kind: 'cluster' }>) {
    super();
    this.links = new ClusterLinks(address, {
      onUp: () => {
        this.review();
        this.notifyAvailable();
      },
      onDown: () => {
        this.review();
        this.notifyUnavailable();
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

  async onModuleInit(): Promise<void> {
    const connected = this.refresh().then(() => Promise.all(this.links.masters.map((link) => link.opened())));
    await Promise.race([connected, sleep(CONNECT_TIMEOUT_MS, undefined, { ref: false })]);
    this.isStarted = true;
    this.review();
    this.reviewing = setInterval(() => {
      if (this.links.isWhole) this.review();
      else void this.refresh();
    }, REVIEW_INTERVAL_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    // The replies to earlier commands may still arrive, and are not logged.
    this.isStarted = false;
    clearInterval(this.reviewing);
    this.log.end();
    await this.links.close();
  }

  protected async send<T>(key: string, commands: Commands<T>, until: number): Promise<T> {
    let askLink: ServerLink | undefined;
    for (let redirections = 0; ; redirections++) {
      const link: ServerLink | undefined = askLink ?? this.links.of(key);
      if (link === undefined) throw new RedisUnavailable(this.links.lastFailure, false);
      await this.opened(link, until);
      try {
        return await link.send(link === askLink ? (client) => commands(asking(client)) : commands);
      } catch (error) {
        const redirection = readRedirection(error);
        if (redirection === undefined) throw error;
        if (redirection.kind !== 'again' && redirections > MAX_REDIRECTIONS) throw new RedisTimeout(false, error);
        askLink = undefined;
        if (redirection.kind === 'again') await sleep(RETRY_DELAY_MS);
        else if (redirection.kind === 'ask') askLink = this.links.at(redirection.to, link);
        else this.links.move(redirection.slot, redirection.to, link);
        if (performance.now() > until) throw new RedisTimeout(false, error);
      }
    }
  }

  /** A server that was not known before needs a moment for its first connection. */
  private async opened(link: ServerLink, until: number): Promise<void> {
    if (link.state !== 'opening') return;
    const late = () => new RedisUnavailable(this.links.lastFailure, false);
    await withTimeout(link.opened(), Math.max(0, until - performance.now()), late);
  }

  /** Reads the map of slots. Slots that have a new master may be available again. */
  private async refresh(): Promise<void> {
    await this.links.refresh();
    this.review();
  }

  private review(): void {
    if (!this.isStarted) return;
    if (!this.links.isWhole) this.log.unavailable(this.links.lastFailure);
    else if (this.log.isOpen) this.logRecovery();
  }

  /** Logs the end of an outage when all masters work, because after a failover some of them refuse writes longer. */
  private logRecovery(): void {
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
