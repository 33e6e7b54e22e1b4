import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { CLOCK } from '../common/clock.js';
import { Extensions } from '../common/extensions/extensions.js';
import { CONFIG, type Config } from '../config/config.js';
import { CredentialDatabase } from './credential-database.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseHealth, DatabaseAvailability, EmbeddedAvailability } from './database-availability.js';
import { MIGRATIONS, PLUGIN_MIGRATIONS } from './migrations/all-migrations.js';
import { dataSourceOptions, openDataSource } from './open-data-source.js';
import { PostgresAvailability } from './postgres/postgres-availability.js';
import { AtomicStatements } from './queries/atomic-statements.js';

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
