import { Table, type MigrationInterface, type QueryRunner, type TableColumnOptions } from 'typeorm';
import { CREATE_TRIGGERS, DROP_TRIGGERS, FILL } from './usage-day-statements.js';

/**
 * The percentage of a page that is filled. Every batch of records updates the rows of its day. In a page with free space,
 * PostgreSQL can store the new version of a row in the same page.
 */
const FILL_FACTOR_PERCENT = 70;

const keys = ['account_id', 'day', 'model', 'key_id', 'credential', 'currency'];
const counts = ['requests', 'completed', 'errors', 'tokens_unknown', 'tokens_estimated', 'without_cost'];
/**
 * Columns for whole numbers. Both engines store whole numbers up to 2^53 exactly in this column type, and a sum never
 * overflows.
 */
const amounts = ['prompt_tokens', 'completion_tokens', 'cost_micros'];

/**
 * Creates the daily sums of the records, so that a report does not have to read the records.
 *
 * Triggers update the sums in the statement that writes a record. Each record is counted exactly once, even if a replica of
 * the previous version writes it during a rollout.
 *
 * The migration adds up the existing records, in a few seconds per million. On PostgreSQL, other replicas can still read
 * the records meanwhile, and keep new records in memory.
 */
export class CreateUsageDays1765200000000 implements MigrationInterface {
  readonly name = 'CreateUsageDays1765200000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'usage_days',
        withoutRowid: true,
        columns: [
          ...keys.map((name): TableColumnOptions => ({ name, type: 'text', isPrimary: true })),
          { name: 'key_prefix', type: 'text' },
          ...counts.map((name): TableColumnOptions => ({ name, type: 'bigint' })),
          ...amounts.map((name): TableColumnOptions => ({ name, type: 'float' })),
        ],
        // Reports on all accounts read the rows in this order.
        indices: [{ columnNames: ['day', 'account_id', 'model', 'key_id', 'credential', 'currency'] }],
      }),
    );
    const engine = engineOf(queryRunner);
    if (engine === 'postgres') {
      await queryRunner.query(`ALTER TABLE usage_days SET (fillfactor = ${FILL_FACTOR_PERCENT})`);
    }
    // On PostgreSQL, this blocks writes to the records until the sums are complete.
    for (const statement of CREATE_TRIGGERS[engine]) await queryRunner.query(statement);
    await queryRunner.query(FILL);
    await queryRunner.query('ANALYZE usage_days');
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DROP_TRIGGERS[engineOf(queryRunner)]) await queryRunner.query(statement);
    await queryRunner.dropTable('usage_days');
  }
}

function engineOf(queryRunner: QueryRunner): 'sqlite' | 'postgres' {
  return queryRunner.dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
}
