import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';
import { CLOCK } from '../common/clock.js';
import { Extensions } from '../common/extensions/extensions.js';
import { CONFIG, type Config, type DatabaseConfig } from '../config/config.js';
import { CredentialDatabase } from './credential-database.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseHealth, DatabaseAvailability, EmbeddedAvailability } from './database-availability.js';
import { MIGRATIONS, PLUGIN_MIGRATIONS } from './migrations/all-migrations.js';
import { PostgresAvailability } from './postgres/postgres-availability.js';
import { AtomicStatements } from './queries/atomic-statements.js';
import { openPostgres, postgresOptions } from './postgres/open-postgres.js';
import { openSqlite, sqliteOptions } from './sqlite/open-sqlite.js';

function availabilityOf({ database }: Config): DatabaseAvailability {
  return database.type === 'postgres' ? new PostgresAvailability(database.url) : new EmbeddedAvailability();
}

/**
 * Opens the configured database, runs pending migrations, and closes the database at shutdown. Features add their entities
 * with `TypeOrmModule.forFeature([...])`, and their migrations to the list in `migrations/all-migrations.ts`.
 */
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [CONFIG, { token: Extensions, optional: true }],
      useFactory: ({ database }: Config, extensions?: Extensions) => ({
        ...dataSourceOptions(database),
        migrations: [...MIGRATIONS, ...(extensions?.values(PLUGIN_MIGRATIONS) ?? [])],
        autoLoadEntities: true,
        // The program that starts the service decides whether to try again.
        toRetry: () => false,
      }),
      dataSourceFactory: openDataSource,
    }),
  ],
  providers: [
    DatabaseHealth,
    DatabaseClock,
    { provide: CLOCK, inject: [DatabaseClock], useFactory: (clock: DatabaseClock) => () => clock.now() },
    AtomicStatements,
    { provide: DatabaseAvailability, inject: [CONFIG], useFactory: availabilityOf },
    {
      provide: CredentialDatabase,
      inject: [DataSource, DatabaseAvailability],
      useFactory: (main: DataSource, availability: DatabaseAvailability) => CredentialDatabase.open(main, availability),
    },
  ],
  exports: [DatabaseHealth, CLOCK, DatabaseClock, AtomicStatements, DatabaseAvailability, CredentialDatabase],
})
export class DatabaseModule {}

/** Returns the options to connect to the configured database, without entities. */
export function dataSourceOptions(config: DatabaseConfig): DataSourceOptions {
  switch (config.type) {
    case 'sqlite':
      return sqliteOptions(config.path);
    case 'postgres':
      return postgresOptions(config.url);
  }
}

/**
 * Connects to the database and runs pending migrations. Several processes can safely start at the same time.
 *
 * @throws {DatabaseError} with the reason in one line.
 */
export async function openDataSource(options?: DataSourceOptions): Promise<DataSource> {
  switch (options?.type) {
    case 'better-sqlite3':
      return openSqlite(options);
    case 'postgres':
      return openPostgres(options);
    default:
      throw new TypeError('These options were not created by dataSourceOptions().');
  }
}
