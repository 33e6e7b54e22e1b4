import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

const TEXTS_OF_A_LINK = [
  { name: 'created_by', type: 'text' },
  { name: 'created_at', type: 'text' },
  { name: 'expires_at', type: 'text' },
] as const;

/** Creates the one-time links of operators: invitations, and links with which a user sets a new password. */
export class CreateAccountLinks1766421001000 implements MigrationInterface {
  readonly name = 'CreateAccountLinks1766421001000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'invitations',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'hashed_token', type: 'text', isUnique: true },
          { name: 'email', type: 'text', isUnique: true },
          { name: 'tier', type: 'text' },
          { name: 'role', type: 'text' },
          ...TEXTS_OF_A_LINK,
        ],
        indices: [{ name: 'invitations_by_expiry', columnNames: ['expires_at'] }],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'password_resets',
        columns: [
          { name: 'account_id', type: 'text', isPrimary: true },
          { name: 'hashed_token', type: 'text', isUnique: true },
          ...TEXTS_OF_A_LINK,
        ],
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
    await queryRunner.dropTable('password_resets');
    await queryRunner.dropTable('invitations');
  }
}
