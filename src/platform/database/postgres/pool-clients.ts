import pg from 'pg';
import { elapsedMs } from '../../common/timers/pace.js';

const READ_TIMEOUT = 'Query read timeout';

/**
 * A connection that closes itself after the first query without a reply in time.
 *
 * If the server or the network fails without closing the connection, the connection would otherwise return to the pool.
 * Every later query on the connection would wait in vain again. Test: "ends after a query without a reply in time, whose
 * caller gets the error".
 *
 * The connection also has an `error` listener from its construction. A pool hands a new connection over without one, and the
 * server can end the connection in the same read: an `error` event without a listener would end the process. The next query
 * reports the loss. Test: "survives a server that ends it with the reply that opens it".
 */
export class ClientWithQueryTimeout extends pg.Client {
  private queries = 0;
  private repliedAt = elapsedMs();
  /** Called with the beginning of a query without a reply in time. */
  protected onSilence: ((begunAt: number) => void) | undefined;

  constructor(...options: ConstructorParameters<typeof pg.Client>) {
    super(...options);
    this.on('error', () => undefined);
  }

  // `query` has many overloads. All overloads that the users of the pool call return a promise.
  override query = ((...parameters: [string]) => {
    const begunAt = elapsedMs();
    const reply: unknown = super.query(...parameters);
    if (reply instanceof Promise) {
      this.queries += 1;
      reply.then(
        () => {
          this.replied();
        },
        (error: unknown) => {
          this.replied();
          if (error instanceof Error && error.message === READ_TIMEOUT) this.endAfter(begunAt);
        },
      );
    }
    return reply;
  }) as pg.Client['query'];

  /** Whether no query runs, and none has had a reply since then. */
  isIdleSince(moment: number): boolean {
    return this.queries === 0 && this.repliedAt < moment;
  }

  private replied(): void {
    this.queries -= 1;
    this.repliedAt = elapsedMs();
  }

  private endAfter(begunAt: number): void {
    this.end().catch(() => undefined);
    this.onSilence?.(begunAt);
  }
}

/**
 * The open connections of a pool. When the network drops connections silently, a query finds out after its time limit. The connections
 * that were idle during this query are then closed, too: otherwise, each of them would keep a later query waiting as long.
 */
export class PoolConnections {
  private readonly clients = new Set<ClientWithQueryTimeout>();

  /** The connection class that the pool must use. */
  readonly Client = clientOf(this.clients);

  /**
   * Closes all connections, even during a query. The pool opens new connections. When the network has dropped the
   * connections silently, lookups then succeed after 0.8 s. Otherwise, all lookups of the first second are refused, until
   * their queries time out.
   */
  cut(): void {
    for (const client of this.clients) client.connection.stream.destroy();
  }
}

function clientOf(clients: Set<ClientWithQueryTimeout>): typeof ClientWithQueryTimeout {
  return class extends ClientWithQueryTimeout {
    constructor(...options: ConstructorParameters<typeof ClientWithQueryTimeout>) {
      super(...options);
      clients.add(this);
      this.once('end', () => clients.delete(this));
    }

    protected override onSilence = (begunAt: number): void => {
      for (const client of clients) {
        if (!client.isIdleSince(begunAt)) continue;
        // The pool forgets the connection at once, and not only when its socket has closed.
        client.emit('error', new Error('Another connection has had no reply in time.'));
        client.connection.stream.destroy();
      }
    };
  };
}
