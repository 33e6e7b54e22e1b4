import type { DataSource, DataSourceOptions } from 'typeorm';
import type { DatabaseConfig } from '../config/config.js';
import { openPostgres, postgresOptions } from './postgres/open-postgres.js';
import { openSqlite, sqliteOptions } from './sqlite/open-sqlite.js';

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
