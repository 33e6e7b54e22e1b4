import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';
import { CREATE_AUDIT_TRIGGERS, DROP_AUDIT_TRIGGERS } from './audit-statements.js';

/**
 * Creates the audit log.
 *
 * Triggers write the entries in the statement that makes a change. So a change and its entry are one transaction, whichever
 * process or version makes the change. A process names the author of a change in `audit_authors` on SQLite, and in a setting of
 * the transaction on PostgreSQL.
 */
export class CreateAuditEntries1766423000000 implements MigrationInterface {
  readonly name = 'CreateAuditEntries1766423000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'audit_entries',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'at', type: 'text' },
          { name: 'actor', type: 'text' },
          { name: 'action', type: 'text' },
          { name: 'target', type: 'text' },
          { name: 'account_id', type: 'text', isNullable: true },
          { name: 'source', type: 'text', isNullable: true },
          { name: 'value_before', type: 'text', isNullable: true },
          { name: 'value_after', type: 'text', isNullable: true },
        ],
        indices: [
          { columnNames: ['at', 'id'] },
          { columnNames: ['account_id', 'at', 'id'] },
          { columnNames: ['action', 'at', 'id'] },
        ],
      }),
    );
    const engine = engineOf(queryRunner);
    if (engine === 'sqlite') {
      await queryRunner.createTable(
        new Table({
          name: 'audit_authors',
          columns: [
            { name: 'actor', type: 'text' },
            { name: 'source', type: 'text', isNullable: true },
          ],
        }),
      );
    }
    for (const statement of CREATE_AUDIT_TRIGGERS[engine]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    const engine = engineOf(queryRunner);
    for (const statement of DROP_AUDIT_TRIGGERS[engine]) await queryRunner.query(statement);
    if (engine === 'sqlite') await queryRunner.dropTable('audit_authors');
    await queryRunner.dropTable('audit_entries');
  }
}

function engineOf(queryRunner: QueryRunner): 'sqlite' | 'postgres' {
  return queryRunner.dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
}
