import { ClientWithQueryTimeout } from './client-with-query-timeout.js';

/** The open connections of the pool for credential lookups. */
export class CredentialConnections {
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
  };
}
