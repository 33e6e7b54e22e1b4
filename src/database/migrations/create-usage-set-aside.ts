import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Creates the table for records that the database refuses because of their values. An operator can restore a record from
 * its JSON.
 */
export class CreateUsageSetAside1765200001000 implements MigrationInterface {
  readonly name = 'CreateUsageSetAside1765200001000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'usage_set_aside',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'request_id', type: 'text', isNullable: true },
          { name: 'set_aside_at', type: 'text' },
          { name: 'reason', type: 'text' },
          { name: 'record', type: 'text' },
        ],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable('usage_set_aside');
  }
}
