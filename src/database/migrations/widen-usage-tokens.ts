import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How long the migration waits for the lock on the table. All other statements on the table wait behind the migration. */
const LOCK_TIMEOUT_MS = 10_000;

/**
 * Changes the token counts of a record to 64 bits.
 *
 * PostgreSQL rewrites the table once for both columns. This takes a few seconds per million records, and blocks all reads
 * and writes of the records. It is the last step of its transaction, so that the lock is held only for this time. Replicas
 * of the previous version keep their records in memory meanwhile, and write them to the new columns afterwards.
 *
 * SQLite stores up to 64 bits in every integer column.
 */
export class WidenUsageTokens1765200002000 implements MigrationInterface {
  readonly name = 'WidenUsageTokens1765200002000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await setType(queryRunner, 'bigint');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await setType(queryRunner, 'integer');
  }
}

async function setType(queryRunner: QueryRunner, type: 'bigint' | 'integer'): Promise<void> {
  if (queryRunner.dataSource.options.type !== 'postgres') return;
  await queryRunner.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`);
  await queryRunner.query(
    `ALTER TABLE usage_records ALTER COLUMN prompt_tokens TYPE ${type}, ALTER COLUMN completion_tokens TYPE ${type}`,
  );
}
