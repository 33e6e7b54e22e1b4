import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

const text = (name: string) => ({ name, type: 'text' });
const optionalText = (name: string) => ({ name, type: 'text', isNullable: true });
const key = (name: string) => ({ name, type: 'text', isPrimary: true });

/** Adds the tables of single sign-on. Replicas of the previous version do not know them, and none of their rows needs one. */
export class CreateAccountIdentities1766417000000 implements MigrationInterface {
  readonly name = 'CreateAccountIdentities1766417000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'account_identities',
        columns: [
          key('issuer'),
          key('subject'),
          text('account_id'),
          optionalText('email'),
          text('created_at'),
          text('last_sign_in_at'),
        ],
        // Also the index for the identities of an account.
        uniques: [{ columnNames: ['account_id', 'issuer'] }],
        foreignKeys: [cascade('account_id', 'accounts')],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'session_identities',
        columns: [key('session_id'), text('issuer'), text('subject'), optionalText('sid'), optionalText('id_token')],
        indices: [{ columnNames: ['issuer', 'subject'] }, { columnNames: ['issuer', 'sid'] }],
        foreignKeys: [cascade('session_id', 'sessions')],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'logout_tokens',
        columns: [key('id'), text('expires_at')],
        indices: [{ columnNames: ['expires_at'] }],
      }),
    );
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const table of ['logout_tokens', 'session_identities', 'account_identities']) {
      await queryRunner.dropTable(table);
    }
  }
}

function cascade(column: string, table: string) {
  return {
    columnNames: [column],
    referencedTableName: table,
    referencedColumnNames: ['id'],
    onDelete: 'CASCADE',
  };
}
