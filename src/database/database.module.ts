import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { CLOCK } from '../common/clock.js';
import { Extensions } from '../common/extensions/extensions.js';
import { CONFIG, type Config } from '../config/config.js';
import { CredentialDatabase } from './credential-database.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseHealth } from './database-health.js';
import { DatabasePresence, EmbeddedPresence } from './database-presence.js';
import { MIGRATIONS, PLUGIN_MIGRATIONS } from './migrations/all-migrations.js';
import { dataSourceOptions, openDataSource } from './open-data-source.js';
import { PostgresPresence } from './postgres/postgres-presence.js';
import { AtomicStatements } from './queries/atomic-statements.js';

function presenceOf({ database }: Config): DatabasePresence {
  return database.type === 'postgres' ? new PostgresPresence(database.url) : new EmbeddedPresence();
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
    { provide: DatabasePresence, inject: [CONFIG], useFactory: presenceOf },
    {
      provide: CredentialDatabase,
      inject: [DataSource, DatabasePresence],
      useFactory: (main: DataSource, presence: DatabasePresence) => CredentialDatabase.open(main, presence),
    },
  ],
  exports: [DatabaseHealth, CLOCK, DatabaseClock, AtomicStatements, DatabasePresence, CredentialDatabase],
})
export class DatabaseModule {}
