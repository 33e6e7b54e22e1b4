import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { auditTriggers } from './audit-triggers.js';

const OF_KEY = { table: 'operator_keys', target: "'operator-key:' || NEW.id", accountId: 'NULL' } as const;

const TRIGGERS = auditTriggers([
  {
    ...OF_KEY,
    name: 'created',
    event: 'INSERT',
    action: 'operator_key.created',
    after: ['name', 'scope', 'prefix', 'expires_at'],
  },
  {
    ...OF_KEY,
    name: 'revoked',
    event: 'UPDATE OF revoked_at',
    when: 'OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL',
    action: 'operator_key.revoked',
  },
]);

const text = (name: string) => ({ name, type: 'text' });
const optionalText = (name: string) => ({ name, type: 'text', isNullable: true });

/** Creates the keys of the API for operators, and their entries in the audit log. */
export class CreateOperatorKeys1766431000000 implements MigrationInterface {
  readonly name = 'CreateOperatorKeys1766431000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'operator_keys',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          text('name'),
          text('scope'),
          text('prefix'),
          { name: 'hashed_key', type: 'text', isUnique: true },
          text('created_at'),
          optionalText('expires_at'),
          optionalText('last_used_at'),
          optionalText('revoked_at'),
        ],
        indices: [{ columnNames: ['created_at', 'id'] }],
      }),
    );
    for (const statement of TRIGGERS.create[engineOf(queryRunner)]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of TRIGGERS.drop[engineOf(queryRunner)]) await queryRunner.query(statement);
    await queryRunner.dropTable('operator_keys');
  }
}

function engineOf(queryRunner: QueryRunner): 'sqlite' | 'postgres' {
  return queryRunner.dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
}
