import { Client, type Dispatcher } from 'undici';

/** How long an idle connection to a vendor is kept, unless the vendor says otherwise. */
const KEEP_ALIVE_MS = 15_000;

/** Most bytes of the headers of an answer, and of its trailers. */
const MAX_HEADER_BYTES = 16 * 1024;

/** A connection that serves one exchange at a time. */
export interface Connection {
  readonly client: Dispatcher;
  /** It has served an exchange before, so the vendor may have closed it in the meantime. */
  readonly reused: boolean;
  /** To be called when the rest of the exchange is not needed: the connection may be closed if it is in the way. */
  spare(): void;
  /** To be called when the exchange is over. */
  release(): void;
}

/**
 * The connections to one origin. Each stream takes a connection for as long as it lasts; `UpstreamConnections` limits how
 * many there are. undici's own pool does not tell whether a connection is new.
 */
export class ConnectionPool {
  /** The most recently used last: it is the least likely to be closed by the vendor. */
  private readonly idle: Client[] = [];
  private readonly spare = new Set<Client>();
  private readonly all = new Set<Client>();

  constructor(
    private readonly origin: string,
    private readonly connectTimeoutMs: number,
  ) {}

  /** Connections that are open or being opened. */
  get size(): number {
    return this.all.size;
  }

  /** A connection that has served before, if there is one. */
  reuse(): Connection | undefined {
    const client = this.takeIdle();
    return client && this.connection(client, true);
  }

  open(): Connection {
    const client = new Client(this.origin, {
      pipelining: 1,
      connect: { timeout: this.connectTimeoutMs },
      keepAliveTimeout: KEEP_ALIVE_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      // An attempt has its own timers, which know what is a sign of life and what is not.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.all.add(client);
    const forget = (): void => {
      this.forget(client);
    };
    client.on('disconnect', forget).on('connectionError', forget);
    return this.connection(client, false);
  }

  /** Closes a connection that no answer needs, the longest idle first. False when there is none. */
  closeUnneeded(): boolean {
    const [client = this.spare.values().next().value] = this.idle;
    if (client === undefined) return false;
    this.forget(client);
    return true;
  }

  async destroy(): Promise<void> {
    await Promise.all([...this.all].map((client) => client.destroy()));
  }

  private connection(client: Client, reused: boolean): Connection {
    return {
      client,
      reused,
      spare: () => {
        if (this.all.has(client)) this.spare.add(client);
      },
      release: () => {
        this.spare.delete(client);
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

  private forget(client: Client): void {
    this.all.delete(client);
    this.spare.delete(client);
    const index = this.idle.indexOf(client);
    if (index !== -1) this.idle.splice(index, 1);
    client.destroy().catch(() => undefined);
  }
}
