import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

export class CreateSessions1764000000000 implements MigrationInterface {
  readonly name = 'CreateSessions1764000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'sessions',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'account_id', type: 'text' },
          { name: 'created_at', type: 'text' },
          { name: 'last_seen_at', type: 'text' },
          { name: 'expires_at', type: 'text' },
        ],
        indices: [{ columnNames: ['account_id'] }, { columnNames: ['last_seen_at'] }, { columnNames: ['expires_at'] }],
        foreignKeys: [
          {
            columnNames: ['account_id'],
            referencedTableName: 'accounts',
            referencedColumnNames: ['id'],
            onDelete: 'CASCADE',
          },
        ],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.dropTable('sessions');
  }
}
