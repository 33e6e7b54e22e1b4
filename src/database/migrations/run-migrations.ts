import { Logger } from '@nestjs/common';
import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';

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
