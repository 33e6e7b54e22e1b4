import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The added columns with their types. */
export const TOKEN_KIND_COLUMNS = {
  cached_prompt_tokens: 'bigint',
  cache_write_prompt_tokens: 'bigint',
  reasoning_completion_tokens: 'bigint',
  cached_input_price: 'double precision',
  cache_write_input_price: 'double precision',
  reasoning_output_price: 'double precision',
  attempt_details: 'text',
};

/**
 * Adds the tokens by kind, their prices and the single attempts to a record, and the index that finds the record of a
 * request.
 *
 * The new columns are empty in existing records, so no record is rewritten. The index takes a few seconds per million
 * records. On PostgreSQL, other replicas keep new records in memory meanwhile.
 */
export class AddTokenKinds1765300000000 implements MigrationInterface {
  readonly name = 'AddTokenKinds1765300000000';

  // The methods of TypeORM for columns would copy the whole table on SQLite, and lose its triggers.
  async up(queryRunner: QueryRunner): Promise<void> {
    for (const [name, type] of Object.entries(TOKEN_KIND_COLUMNS)) {
      await queryRunner.query(`ALTER TABLE usage_records ADD COLUMN ${name} ${type}`);
    }
    await queryRunner.query('CREATE INDEX usage_records_of_request ON usage_records (account_id, request_id)');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.query('DROP INDEX usage_records_of_request');
    for (const name of Object.keys(TOKEN_KIND_COLUMNS)) {
      await queryRunner.query(`ALTER TABLE usage_records DROP COLUMN ${name}`);
    }
  }
}
