import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

export class CreateUsage1763700000000 implements MigrationInterface {
  readonly name = 'CreateUsage1763700000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'usage_records',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'request_id', type: 'text' },
          { name: 'account_id', type: 'text' },
          { name: 'credential', type: 'text' },
          { name: 'key_id', type: 'text', isNullable: true },
          { name: 'key_prefix', type: 'text', isNullable: true },
          { name: 'model', type: 'text' },
          { name: 'upstream', type: 'text', isNullable: true },
          { name: 'attempts', type: 'integer' },
          { name: 'started_at', type: 'text' },
          { name: 'first_text_at', type: 'text', isNullable: true },
          { name: 'ended_at', type: 'text', isNullable: true },
          { name: 'outcome', type: 'text' },
          { name: 'error_code', type: 'text', isNullable: true },
          { name: 'finish_reason', type: 'text', isNullable: true },
          { name: 'prompt_tokens', type: 'integer', isNullable: true },
          { name: 'prompt_tokens_source', type: 'text' },
          { name: 'completion_tokens', type: 'integer', isNullable: true },
          { name: 'completion_tokens_source', type: 'text' },
          { name: 'input_price', type: 'float', isNullable: true },
          { name: 'output_price', type: 'float', isNullable: true },
          { name: 'cost_micros', type: 'float', isNullable: true },
          { name: 'currency', type: 'text', isNullable: true },
        ],
        indices: [{ columnNames: ['account_id', 'started_at'] }],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'usage_openings',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'writer_id', type: 'text' },
          { name: 'streams', type: 'text' },
        ],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'usage_writers',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'host', type: 'text' },
          { name: 'pid', type: 'integer' },
          { name: 'seen_at', type: 'float' },
        ],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable('usage_writers');
    await queryRunner.dropTable('usage_openings');
    await queryRunner.dropTable('usage_records');
  }
}
