import { Table, type MigrationInterface, type QueryRunner } from 'typeorm';

const ENTRIES = 'INSERT INTO usage_feed_entries (feed, record_id, changes)';
const AGAIN = 'ON CONFLICT (feed, record_id) DO UPDATE SET changes = usage_feed_entries.changes + 1';

const CREATE = {
  sqlite: ['INSERT', 'UPDATE'].map(
    (event) => `CREATE TRIGGER usage_feeds_${event.toLowerCase()} AFTER ${event} ON usage_records BEGIN
      ${ENTRIES} SELECT name, NEW.id, 0 FROM usage_feeds WHERE true ${AGAIN}; END`,
  ),
  postgres: [
    `CREATE FUNCTION usage_feeds_changed() RETURNS trigger LANGUAGE plpgsql AS $body$ BEGIN
      ${ENTRIES} SELECT name, changed.id, 0 FROM usage_feeds CROSS JOIN changed ORDER BY name, changed.id ${AGAIN};
      RETURN NULL;
    END $body$`,
    ...['INSERT', 'UPDATE'].map(
      (event) => `CREATE TRIGGER usage_feeds_${event.toLowerCase()} AFTER ${event} ON usage_records
        REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION usage_feeds_changed()`,
    ),
  ],
};
const DROP = {
  sqlite: ['DROP TRIGGER usage_feeds_update', 'DROP TRIGGER usage_feeds_insert'],
  postgres: [
    'DROP TRIGGER usage_feeds_update ON usage_records',
    'DROP TRIGGER usage_feeds_insert ON usage_records',
    'DROP FUNCTION usage_feeds_changed()',
  ],
};

/**
 * Creates the usage feeds of plugins, and what each of them has not delivered yet.
 *
 * A trigger adds the entries in the statement that writes a record. So no record is missing, whichever process or version writes it.
 */
export class CreateUsageFeeds1766441000000 implements MigrationInterface {
  readonly name = 'CreateUsageFeeds1766441000000';

  async up(queryRunner: QueryRunner): Promise<void> {
    await queryRunner.createTable(
      new Table({
        name: 'usage_feeds',
        columns: [
          { name: 'name', type: 'text', isPrimary: true },
          { name: 'seen_at', type: 'text' },
          { name: 'owner', type: 'text', isNullable: true },
          { name: 'owned_until', type: 'text', isNullable: true },
        ],
      }),
    );
    await queryRunner.createTable(
      new Table({
        name: 'usage_feed_entries',
        columns: [
          { name: 'feed', type: 'text', isPrimary: true },
          { name: 'record_id', type: 'text', isPrimary: true },
          { name: 'changes', type: 'integer' },
        ],
      }),
    );
    for (const statement of CREATE[engineOf(queryRunner)]) await queryRunner.query(statement);
  }

  async down(queryRunner: QueryRunner): Promise<void> {
    for (const statement of DROP[engineOf(queryRunner)]) await queryRunner.query(statement);
    await queryRunner.dropTable('usage_feed_entries');
    await queryRunner.dropTable('usage_feeds');
  }
}

function engineOf(queryRunner: QueryRunner): 'sqlite' | 'postgres' {
  return queryRunner.dataSource.options.type === 'postgres' ? 'postgres' : 'sqlite';
}
