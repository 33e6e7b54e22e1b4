import { MigrationExecutor, type DataSource, type QueryRunner } from 'typeorm';

/** Runs what is pending. The caller has begun a transaction on `queryRunner` that no other process can be in, too. */
export async function runMigrations(dataSource: DataSource, queryRunner: QueryRunner): Promise<void> {
  const executor = new MigrationExecutor(dataSource, queryRunner);
  executor.transaction = 'none';
  await executor.executePendingMigrations();
}
