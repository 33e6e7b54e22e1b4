import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

export class CreateAccountsAndApiKeys1760000000000 implements MigrationInterface {
  readonly name = 'CreateAccountsAndApiKeys1760000000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'accounts',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'email', type: 'text', isUnique: true },
          { name: 'password_hash', type: 'text' },
          { name: 'tier', type: 'text' },
          { name: 'created_at', type: 'text' },
        ],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'api_keys',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'account_id', type: 'text' },
          { name: 'name', type: 'text' },
          { name: 'prefix', type: 'text' },
          { name: 'hashed_key', type: 'text', isUnique: true },
          { name: 'created_at', type: 'text' },
          { name: 'expires_at', type: 'text', isNullable: true },
          { name: 'last_used_at', type: 'text', isNullable: true },
          { name: 'revoked_at', type: 'text', isNullable: true },
        ],
        indices: [{ columnNames: ['account_id'] }],
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
    await queryRunner.dropTable('api_keys');
    await queryRunner.dropTable('accounts');
  }
}
