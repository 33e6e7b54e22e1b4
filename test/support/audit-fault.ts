import type { DataSource } from 'typeorm';

const TABLES = [
  ...['accounts', 'api_keys', 'sessions', 'account_identities', 'one_time_links', 'operator_keys'],
  'webhook_deliveries',
];

/** Makes each new entry of the audit log fail, until the returned function is called. */
export async function failAuditLog(database: DataSource): Promise<() => Promise<void>> {
  const isPostgres = database.options.type === 'postgres';
  if (isPostgres) {
    await database.query(
      `CREATE OR REPLACE FUNCTION fail_audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected fault'; END $$`,
    );
  }
  await database.query(
    isPostgres
      ? 'CREATE TRIGGER audit_fault BEFORE INSERT ON audit_entries FOR EACH ROW EXECUTE FUNCTION fail_audit()'
      : `CREATE TRIGGER audit_fault BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'injected fault'); END`,
  );
  return async () => {
    await database.query(isPostgres ? 'DROP TRIGGER audit_fault ON audit_entries' : 'DROP TRIGGER audit_fault');
  };
}

/** All rows that the audit log is about, without the times of their last use. */
export async function auditedRows(database: DataSource): Promise<unknown> {
  const tables = await Promise.all(
    TABLES.map(async (table) => {
      const rows = await database.query<Readonly<Record<string, unknown>>[]>(`SELECT * FROM ${table}`);
      const lasting = rows.map((row) => JSON.stringify({ ...row, last_used_at: null }));
      return [table, lasting.toSorted()];
    }),
  );
  return Object.fromEntries(tables) as unknown;
}
