import type { OnApplicationShutdown } from '@nestjs/common';
import { DataSource, type EntityTarget, type ObjectLiteral, type Repository } from 'typeorm';
import type { DatabaseAvailability } from './database-availability.js';
import { PoolConnections } from './postgres/pool-clients.js';
import { credentialOptions } from './postgres/open-postgres.js';
import { queryRows, type Parameters } from './queries/statements.js';
import { PostgresAvailability } from './postgres/postgres-availability.js';

/**
 * The database for looking up and watching credentials. On PostgreSQL, these queries have separate connections that
 * reports, pages and the ledger cannot occupy. An embedded database has one connection for everything.
 */
export class CredentialDatabase implements OnApplicationShutdown {
  private constructor(
    private readonly source: DataSource,
    private readonly isOwn: boolean,
  ) {}

  /** @param main the data source for all other queries. */
  static async open(main: DataSource, availability: DatabaseAvailability): Promise<CredentialDatabase> {
    const { options } = main;
    if (options.type !== 'postgres') return new CredentialDatabase(main, false);
    const connections = new PoolConnections();
    if (availability instanceof PostgresAvailability) {
      availability.whenSilent(() => {
        connections.cut();
      });
    }
    const source = new DataSource(credentialOptions(options, connections.Client));
    return new CredentialDatabase(await source.initialize(), true);
  }

  repository<E extends ObjectLiteral>(entity: EntityTarget<E>): Repository<E> {
    return this.source.getRepository(entity);
  }

  rows<Row>(sql: string, parameters?: Parameters): Promise<readonly Row[]> {
    return queryRows<Row>(this.source, sql, parameters);
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.isOwn && this.source.isInitialized) await this.source.destroy();
  }
}
