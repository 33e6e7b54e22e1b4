import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Adds to a record whether its stream was durable: generated regardless of the connection of the client. Existing records
 * get the value of plain streams, without being rewritten.
 */
export class AddDetachedStreams1765400000000 implements MigrationInterface {
  readonly name = 'AddDetachedStreams1765400000000';

  // The methods of TypeORM for columns would copy the whole table on SQLite, and lose its triggers.
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_records ADD COLUMN detached integer NOT NULL DEFAULT 0');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_records DROP COLUMN detached');
  }
}
