import type { OnApplicationShutdown } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral, type Repository } from 'typeorm';
import type { DatabasePresence } from './database-presence.js';
import { CredentialConnections } from './postgres/credential-connections.js';
import { credentialOptions } from './postgres/open-postgres.js';
import { PostgresPresence } from './postgres/postgres-presence.js';

/**
 * The way to the database for lookups of credentials and for the watches of them. On PostgreSQL these have connections of
 * their own, which reports, pages and the ledger cannot fill. An embedded database has one connection for everything.
 */
export class CredentialDatabase implements OnApplicationShutdown {
  private constructor(
    private readonly source: DataSource,
    private readonly isOwn: boolean,
  ) {}

  /** @param main the data source for everything else. */
  static async open(main: DataSource, presence: DatabasePresence): Promise<CredentialDatabase> {
    const { options } = main;
    if (options.type !== 'postgres') return new CredentialDatabase(main, false);
    const connections = new CredentialConnections();
    if (presence instanceof PostgresPresence) {
      presence.whenSilent(() => {
        connections.cut();
      });
    }
    const source = new DataSource(credentialOptions(options, connections.Client));
    return new CredentialDatabase(await source.initialize(), true);
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.source.getRepository(entity);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.isOwn && this.source.isInitialized) await this.source.destroy();
  }
}
