import { Logger, type Type } from '@nestjs/common';
import { MigrationExecutor, type DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';
import { ExtensionPoint } from '../../common/extensions/extensions.js';
import { ACCOUNT_TABLES } from './account-tables.js';
import { migration, type Migration } from './migration.js';
import { OPERATOR_TABLES } from './operator-tables.js';
import { OUTBOX_TABLES } from './outbox-tables.js';
import { USAGE_TABLES } from './usage-tables.js';

/**
 * All migrations, oldest first. The number in the name is the time of the migration, in milliseconds since 1970.
 *
 * Each migration must work on SQLite and PostgreSQL. Never use an entity in a migration, because entities change later. The first
 * migration may change until version 1.0.0 is released. After that, add a migration for each change.
 */
export const MIGRATIONS: Migration[] = [
  migration('CreateTables1764150000000', ...ACCOUNT_TABLES, ...USAGE_TABLES, ...OPERATOR_TABLES, ...OUTBOX_TABLES),
];

/** The migrations of plugins. */
export const PLUGIN_MIGRATIONS = new ExtensionPoint<Type<MigrationInterface>>('migrations');

/**
 * Runs the pending migrations, and logs which ran and how long they took. The caller must have started a transaction on
 * `queryRunner` that keeps all other processes out.
 *
 * A database that a newer version has migrated is not refused: migrations only add to the tables while an older version may
 * still run, as during a rollout. The log names the migrations that this version does not know.
 */
export async function runMigrations(dataSource: DataSource, queryRunner: QueryRunner): Promise<void> {
  const logger = new Logger('Database');
  const executor = new MigrationExecutor(dataSource, queryRunner);
  executor.transaction = 'none';
  const known = new Set(dataSource.migrations.map((migration) => migration.name ?? migration.constructor.name));
  const executed = (await executor.getExecutedMigrations()).map(({ name }) => name);
  const unknown = executed.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    logger.warn(
      `The database has migrations of a newer version of the service, or of a plugin that is missing: ${unknown.join(', ')}`,
    );
  }
  const pending = await executor.getPendingMigrations();
  if (pending.length === 0) return;
  const isNew = executed.length === 0;
  if (!isNew) logger.log(`Running migrations: ${pending.map(({ name }) => name).join(', ')}`);
  const startedAt = performance.now();
  await executor.executePendingMigrations();
  const durationMs = Math.round(performance.now() - startedAt);
  logger.log({
    msg: isNew ? `Created the tables in ${durationMs} ms` : `Ran ${pending.length} migrations in ${durationMs} ms`,
    migrations: pending.length,
    durationMs,
  });
}
