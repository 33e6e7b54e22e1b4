import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CONFIG, type Config } from '../config/config.js';
import { DatabaseClock } from './database-clock.js';
import { DatabaseHealth } from './database-health.js';
import { dataSourceOptions, openDataSource } from './open-data-source.js';

/**
 * Opens the configured database, brings its tables up to date and closes it at shutdown. Features add their entities with
 * `TypeOrmModule.forFeature([...])` and their migrations to the list in `migrations.ts`.
 */
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      inject: [CONFIG],
      useFactory: ({ database }: Config) => ({
        ...dataSourceOptions(database),
        autoLoadEntities: true,
        // Whoever starts the service says whether to try again.
        toRetry: () => false,
      }),
      dataSourceFactory: openDataSource,
    }),
  ],
  providers: [DatabaseHealth, DatabaseClock],
  exports: [DatabaseHealth, DatabaseClock],
})
export class DatabaseModule {}
