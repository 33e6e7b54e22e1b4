import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds to a record the number of tool calls of its answer. Existing records have no number, and are not rewritten. */
export class AddToolCalls1766413000000 implements MigrationInterface {
  readonly name = 'AddToolCalls1766413000000';

  // The methods of TypeORM for columns would copy the whole table on SQLite, and lose its triggers.
  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_records ADD COLUMN tool_calls integer');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('ALTER TABLE usage_records DROP COLUMN tool_calls');
  }
}
