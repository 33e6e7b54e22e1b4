import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';

/**
 * Runs the pending migrations. The caller must have started a transaction on `queryRunner` that keeps all other processes
 * out.
 */
export async function runMigrations(dataSource: DataSource, queryRunner: QueryRunner): Promise<void> {
  const executor = new MigrationExecutor(dataSource, queryRunner);
  executor.transaction = 'none';
  await executor.executePendingMigrations();
}
