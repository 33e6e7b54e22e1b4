import { ImpatientClient } from './impatient-client.js';

/** The open connections of the pool for credentials. */
export class CredentialConnections {
  private readonly clients = new Set<ImpatientClient>();

  /** The class of connections that the pool has to make. */
  readonly Client = clientOf(this.clients);

  /** Ends all of them, also in the middle of a query. The pool makes new ones. */
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
