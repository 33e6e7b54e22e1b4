import { ImpatientClient } from './impatient-client.js';

/** The open connections of the pool for credential lookups. */
export class CredentialConnections {
  private readonly clients = new Set<ImpatientClient>();

  /** The connection class that the pool must use. */
  readonly Client = clientOf(this.clients);

  /** Closes all connections, even during a query. The pool opens new connections. */
  cut(): void {
    for (const client of this.clients) client.connection.stream.destroy();
  }
}

function clientOf(clients: Set<ImpatientClient>): typeof ImpatientClient {
  return class extends ImpatientClient {
    constructor(...options: ConstructorParameters<typeof ImpatientClient>) {
      super(...options);
      clients.add(this);
      this.once('end', () => clients.delete(this));
    }
  };
}
