import type { DataSource, DataSourceOptions } from 'typeorm';
import type { DatabaseConfig } from '../config/config.js';
import { openPostgres, postgresOptions } from './postgres/open-postgres.js';
import { openSqlite, sqliteOptions } from './sqlite/open-sqlite.js';

/** How to reach the configured database, without entities. */
export function dataSourceOptions(config: DatabaseConfig): DataSourceOptions {
  switch (config.type) {
    case 'sqlite':
      return sqliteOptions(config.path);
    case 'postgres':
      return postgresOptions(config.url);
  }
}

/**
 * Connects and runs pending migrations; safe when several processes start at once.
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
      throw new TypeError('These options are not from dataSourceOptions().');
  }
}
