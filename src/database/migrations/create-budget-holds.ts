import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

const TRIGGER = 'budget_holds_of_recorded';

const CREATE_TRIGGER = {
  sqlite: [
    `CREATE TRIGGER ${TRIGGER} AFTER INSERT ON usage_records BEGIN DELETE FROM budget_holds WHERE id = NEW.id; END`,
  ],
  postgres: [
    `CREATE FUNCTION ${TRIGGER}() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      DELETE FROM budget_holds WHERE id IN (SELECT id FROM added);
      RETURN NULL;
    END $body$`,
    `CREATE TRIGGER ${TRIGGER} AFTER INSERT ON usage_records
      REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION ${TRIGGER}()`,
  ],
};

/**
 * Creates the money that running streams have reserved from budgets, and adds the budgets of API keys.
 *
 * The id of a hold is the id of the record that the stream will get. A trigger removes the hold in the statement that writes the
 * record, so a stream counts either as reserved or as spent, whichever process or version writes the record.
 */
export class CreateBudgetHolds1766412000000 implements MigrationInterface {
  readonly name = 'CreateBudgetHolds1766412000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'budget_holds',
        columns: [
          { name: 'id', type: 'text', isPrimary: true },
          { name: 'account_id', type: 'text' },
          { name: 'key_id', type: 'text', isNullable: true },
          { name: 'micros', type: 'float' },
          { name: 'renewed_at', type: 'text' },
        ],
        indices: [{ columnNames: ['account_id'] }],
      }),
    );
    // The method of TypeORM for columns would copy the whole table on SQLite.
    await queryRunner.query('ALTER TABLE api_keys ADD COLUMN budget_micros float');
    await queryRunner.query('ALTER TABLE api_keys ADD COLUMN budget_per text');
    for (const statement of CREATE_TRIGGER[engineOf(queryRunner)]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    if (engineOf(queryRunner) === 'postgres') {
      await queryRunner.query(`DROP TRIGGER ${TRIGGER} ON usage_records`);
      await queryRunner.query(`DROP FUNCTION ${TRIGGER}()`);
    } else await queryRunner.query(`DROP TRIGGER ${TRIGGER}`);
    for (const column of ['budget_micros', 'budget_per']) {
      await queryRunner.query(`ALTER TABLE api_keys DROP COLUMN ${column}`);
    }
    await queryRunner.dropTable('budget_holds');
  }
}

function engineOf(queryRunner: QueryRunner): 'sqlite' | 'postgres' {
  return queryRunner.dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
}
