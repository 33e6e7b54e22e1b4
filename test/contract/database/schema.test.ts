import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../src/platform/database/migrations/all-migrations.js';
import { dataSourceOptions } from '../../../src/platform/database/database.module.js';
import { testEngines, type TestDatabase } from '../../support/database.js';

describe.each(await testEngines())('the schema on $name', (engine) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await engine.createEmpty();
  });
  afterEach(() => database.drop());

  it('has all indexes, and room for changes in the pages of the sums', async () => {
    const source = await new DataSource({ ...dataSourceOptions(database.config), migrations: MIGRATIONS }).initialize();
    await source.runMigrations({ transaction: 'each' });
    const schema = await schemaOf(source).finally(() => source.destroy());
    expect(indexedColumns(schema)).toEqual([
      'accounts: created_at, id, tier',
      'accounts: operator_by',
      'api_keys: account_id',
      'api_keys: expires_at, id',
      'audit_entries: account_id, at, id',
      'audit_entries: action, at, id',
      'audit_entries: at, id',
      'budget_holds: account_id',
      'logout_tokens: expires_at',
      'one_time_links: expires_at',
      'operator_keys: created_at, id',
      'operator_requests: requested_at',
      'refused_requests: account_id, refused_at, id',
      'refused_requests: refused_at, id',
      'refused_requests: request_id, refused_at, id',
      'session_identities: issuer, sid',
      'session_identities: issuer, subject',
      'sessions: account_id',
      'sessions: expires_at',
      'sessions: last_seen_at',
      'usage_days: day, account_id, model, key_id, credential, currency',
      'usage_records: account_id, request_id, id',
      'usage_records: account_id, started_at, id, model, key_id, credential',
      'usage_records: request_id, started_at, id',
      'usage_records: started_at, id, account_id, model, key_id, outcome',
      'webhook_deliveries: created_at, id',
      'webhook_deliveries: webhook, next_attempt_at',
    ]);
    if (engine.name === 'PostgreSQL') expect(schema).toContain('options of usage_days: fillfactor=70');
  });
});

/** Describes each table, column, index, constraint, trigger and function, sorted. */
async function schemaOf(source: DataSource): Promise<string[]> {
  const statement = source.options.type === 'postgres' ? OF_POSTGRES : OF_SQLITE;
  const rows = await source.query<{ item: string }[]>(statement);
  return rows.map(({ item }) => item.replace(/chat_test_[0-9a-f]+\./g, '')).sort();
}

/** The columns of the indexes that belong to no constraint. */
function indexedColumns(schema: readonly string[]): string[] {
  const indexes = schema.flatMap((item) => /^index of (\w+): (.*)$/.exec(item)?.slice(1).join(': ') ?? []);
  return indexes.sort();
}

const OF_POSTGRES = `
  SELECT format('column %s.%s: %s %s %s', table_name, column_name, data_type, is_nullable, column_default) AS item
    FROM information_schema.columns WHERE table_schema = current_schema() AND table_name <> 'migrations'
  UNION ALL
  SELECT format('index of %s: %s', tables.relname,
      (SELECT string_agg(attname, ', ' ORDER BY array_position(indkey::int[], attnum::int))
        FROM pg_attribute WHERE attrelid = indrelid AND attnum = ANY(indkey)))
    FROM pg_index JOIN pg_class tables ON tables.oid = indrelid
    WHERE relnamespace = current_schema()::regnamespace AND relname <> 'migrations'
      AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
  UNION ALL
  SELECT format('constraint of %s: %s', conrelid::regclass, pg_get_constraintdef(oid)) FROM pg_constraint
    WHERE connamespace = current_schema()::regnamespace AND conrelid::regclass::text <> 'migrations'
  UNION ALL
  SELECT format('trigger: %s', pg_get_triggerdef(pg_trigger.oid))
    FROM pg_trigger JOIN pg_class tables ON tables.oid = tgrelid
    WHERE relnamespace = current_schema()::regnamespace AND NOT tgisinternal
  UNION ALL
  SELECT format('function: %s', pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace
  UNION ALL
  SELECT format('options of %s: %s', relname, array_to_string(reloptions, ', ')) FROM pg_class
    WHERE relnamespace = current_schema()::regnamespace AND reloptions IS NOT NULL`;

const OF_SQLITE = `
  SELECT format('column %s.%s: %s %s %s %s', tables.name, columns.name, columns.type, "notnull", dflt_value, pk) AS item
    FROM sqlite_master AS tables, pragma_table_info(tables.name) AS columns
    WHERE tables.type = 'table' AND tables.name NOT IN ('migrations', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4')
  UNION ALL
  SELECT format('%s of %s: %s', CASE origin WHEN 'c' THEN 'index' ELSE 'constraint' END, tables.name,
      (SELECT group_concat(name, ', ') FROM (SELECT name FROM pragma_index_info(indexes.name) ORDER BY seqno)))
    FROM sqlite_master AS tables, pragma_index_list(tables.name) AS indexes
    WHERE tables.type = 'table' AND tables.name NOT IN ('migrations', 'sqlite_sequence', 'sqlite_stat1', 'sqlite_stat4')
  UNION ALL
  SELECT format('reference of %s: %s %s %s %s', tables.name, "from", "table", "to", on_delete)
    FROM sqlite_master AS tables, pragma_foreign_key_list(tables.name)
    WHERE tables.type = 'table' AND tables.name <> 'migrations'
  UNION ALL
  SELECT format('trigger: %s', sql) FROM sqlite_master WHERE type = 'trigger'`;
