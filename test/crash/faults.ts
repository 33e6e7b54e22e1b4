import type { Database } from 'better-sqlite3';
import type { DataSource } from 'typeorm';
import type { BetterSqlite3Driver } from 'typeorm/driver/better-sqlite3/BetterSqlite3Driver.js';
import { engineOf } from '../../src/platform/database/queries/statements.js';

/** What a statement does that is made to fail, and when. */
export interface Fault {
  readonly table: string;
  readonly event: 'INSERT' | 'UPDATE' | 'DELETE';
}

/** Makes every such statement fail in the database itself, after the statements before it. Ends with {@link heal}. */
export async function failAt(source: DataSource, { table, event }: Fault): Promise<void> {
  if (engineOf(source) === 'sqlite') {
    // An error of a function, as `RAISE` would count as a refusal of the data.
    const database = (source.driver as BetterSqlite3Driver).databaseConnection as Database;
    database.function('fault', { directOnly: false }, () => {
      throw new Error('injected fault');
    });
    await source.query(`CREATE TEMP TRIGGER test_fault BEFORE ${event} ON ${table} BEGIN SELECT fault(); END`);
    return;
  }
  // Not an error about the data: those are answers, which no retry changes.
  await source.query(
    `CREATE OR REPLACE FUNCTION test_fault() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN RAISE EXCEPTION 'injected fault' USING ERRCODE = '58030'; END $$`,
  );
  await source.query(
    `CREATE TRIGGER test_fault BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION test_fault()`,
  );
}

export async function heal(source: DataSource, { table }: Fault): Promise<void> {
  await source.query(`DROP TRIGGER test_fault${engineOf(source) === 'sqlite' ? '' : ` ON ${table}`}`);
}

/**
 * Makes the database end the connection at every such statement, after the statements before it: to the database, the process
 * is killed there. PostgreSQL only, as SQLite has no process of its own: see `die-in-between.mjs`.
 */
export async function dieAt(source: DataSource, { table, event }: Fault): Promise<void> {
  await source.query(
    `CREATE OR REPLACE FUNCTION test_fault() RETURNS trigger LANGUAGE plpgsql AS
     $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10); RETURN NULL; END $$`,
  );
  await source.query(
    `CREATE TRIGGER test_fault BEFORE ${event} ON ${table} FOR EACH ROW EXECUTE FUNCTION test_fault()`,
  );
}
