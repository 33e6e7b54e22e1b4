import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Creates the positions of the audit sinks of plugins. */
export class CreateAuditSinks1766431002000 implements MigrationInterface {
  readonly name = 'CreateAuditSinks1766431002000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'audit_sinks',
        columns: [
          // The name of the sink.
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'delivered_until', type: 'text' },
          { name: 'leased_by', type: 'text' },
          { name: 'leased_until', type: 'text' },
        ],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable('audit_sinks');
  }
}
