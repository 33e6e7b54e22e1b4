import { OutageLog } from '../common/outage-log.js';
import { withTimeout } from '../common/timers/with-timeout.js';
import type { RedisAddress } from '../config/sources/redis-url.js';
import { readRedirection } from './cluster/redirection.js';
import { keyInSlots } from './cluster/slot-map.js';
import { CONNECT_TIMEOUT_MS, type ServerAddress } from './redis-client.js';
import { RedisConnection, type Commands } from './redis-connection.js';
import { RedisUnavailable, reasonOf } from './redis-errors.js';
import { findMaster } from './sentinel-lookup.js';
import { ServerLink } from './server-link.js';

const PROBE_KEY = 'chat:probe';
const CONSEQUENCE = 'each replica keeps its share of the limits until Redis is back';
const IS_CLUSTER = 'the server is part of a cluster: REDIS_URL must be redis+cluster://host:port,…';

/** The connection to one server: to the server of the URL, or to the master that Sentinel names. */
export class SingleConnection extends RedisConnection {
  private readonly log = new OutageLog('Redis', CONSEQUENCE);
  private readonly link: ServerLink;
  /** A slot that this server has refused, because the server is part of a cluster. */
  private refusedSlot: number | undefined;
  private isStarted = false;

  constructor(private readonly address: Exclude<RedisAddress, { kind: 'cluster' }>) {
    super();
    this.link = new ServerLink({
      locate: () => this.locate(),
      probeKey: () => (this.refusedSlot === undefined ? PROBE_KEY : keyInSlots([this.refusedSlot])),
      onUp: () => {
        this.refusedSlot = undefined;
        this.log.back();
        this.notifyAvailable();
      },
      onDown: (reason) => {
        if (!this.isStarted) return;
        this.log.unavailable(explained(reason));
        this.notifyUnavailable();
      },
    });
  }

  get isUnavailable(): boolean {
    return !this.link.isUp;
  }

  get isOpen(): boolean {
    return this.link.isOpen;
  }

  isUnavailableFor(): boolean {
    return this.isUnavailable;
  }

  availableForMs(): number {
    return this.isUnavailable ? 0 : performance.now() - this.link.availableSince;
  }

  async runOnEach(commands: Commands<unknown>): Promise<void> {
    await this.link.send(commands);
  }

  async check(): Promise<void> {
    await this.link.check();
  }

  async onModuleInit(): Promise<void> {
    this.link.start();
    const isUp = new Promise<void>((resolve) => {
      this.whenBack(resolve);
    });
    await withTimeout(isUp, CONNECT_TIMEOUT_MS, () => new Error('no reply')).catch((error: unknown) => {
      if (this.isUnavailable) this.log.unavailable(`${explained(this.link.lastFailure)}, ${reasonOf(error)}`);
    });
    this.isStarted = true;
  }

  async onApplicationShutdown(): Promise<void> {
    this.log.end();
    await this.link.close();
  }

  protected async send<T>(_: string, commands: Commands<T>): Promise<T> {
    try {
      return await this.link.send(commands);
    } catch (error) {
      const redirection = readRedirection(error);
      if (redirection?.kind !== 'moved') throw error;
      this.refusedSlot = redirection.slot;
      this.link.fail(new Error(IS_CLUSTER));
      throw new RedisUnavailable(IS_CLUSTER, false, { cause: error });
    }
  }

  private async locate(): Promise<ServerAddress> {
    return this.address.kind === 'server' ? { url: this.address.url } : findMaster(this.address);
  }
}

function explained(reason: string): string {
  return reason.startsWith('MOVED') ? IS_CLUSTER : reason;
}
