import { Client, type Dispatcher } from 'undici';

/** How long an idle connection to a vendor is kept, unless the vendor says otherwise. */
const KEEP_ALIVE_MS = 15_000;

/** A connection that serves one exchange at a time. */
export interface Connection {
  readonly client: Dispatcher;
  /** It has served an exchange before, so the vendor may have closed it in the meantime. */
  readonly reused: boolean;
  /** To be called when the exchange is over. */
  release(): void;
}

/**
 * The connections to one origin. As each stream takes a connection for as long as it lasts, there is no upper bound here:
 * the tiers' limits are the only ones. undici's own pool does not tell whether a connection is new.
 */
export class ConnectionPool {
  /** The most recently used last: it is the least likely to be closed by the vendor. */
  private readonly idle: Client[] = [];
  private readonly all = new Set<Client>();

  constructor(
    private readonly origin: string,
    private readonly connectTimeoutMs: number,
  ) {}

  /** @param fresh never one that was used before. */
  acquire(fresh = false): Connection {
    const used = fresh ? undefined : this.takeIdle();
    const client = used ?? this.open();
    return {
      client,
      reused: used !== undefined,
      release: () => {
        // One that has lost its socket in the meantime is not kept.
        if (this.all.has(client)) this.idle.push(client);
      },
    };
  }

  /** One that is connected still: between the end of a socket and the news of it, a client looks idle. */
  private takeIdle(): Client | undefined {
    let client = this.idle.pop();
    while (client !== undefined && !client.stats.connected) client = this.idle.pop();
    return client;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.all].map((client) => client.destroy()));
  }

  private open(): Client {
    const client = new Client(this.origin, {
      pipelining: 1,
      connect: { timeout: this.connectTimeoutMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
      // An attempt has its own timers, which know what is a sign of life and what is not.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.all.add(client);
    const forget = (): void => {
      this.all.delete(client);
      const index = this.idle.indexOf(client);
      if (index !== -1) this.idle.splice(index, 1);
      client.destroy().catch(() => undefined);
    };
    client.on('disconnect', forget).on('connectionError', forget);
    return client;
  }
}
