import { statSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { DataSource } from 'typeorm';
import type { BetterSqlite3DataSourceOptions } from 'typeorm/driver/better-sqlite3/BetterSqlite3DataSourceOptions.js';
import { elapsedMs, sleep } from '../../common/timers/pace.js';
import { codeOf, DatabaseError } from '../database-error.js';
import { MIGRATIONS, runMigrations } from '../migrations/all-migrations.js';

/** How long a statement waits for a write of another process. The driver blocks the event loop during this wait. */
const BUSY_TIMEOUT_MS = 5000;
/** How long the start waits for the migrations of another process. This wait does not block the event loop. */
const START_TIMEOUT_MS = 30_000;
const RETRY_AFTER_MS = 25;
/**
 * The maximum number of prepared statements. Above it, the oldest statements are removed. The ledger alone needs a hundred,
 * one for each number of rows.
 */
const STATEMENTS_KEPT = 500;

/** @param path the path of the file, or `:memory:`. Missing parent folders are created. */
export function sqliteOptions(path: string): BetterSqlite3DataSourceOptions {
  return {
    type: 'better-sqlite3',
    database: path,
    migrations: MIGRATIONS,
    logging: false,
    timeout: 0,
    statementCacheSize: STATEMENTS_KEPT,
    prepareDatabase: prepare,
  };
}

/**
 * Opens the database and runs pending migrations.
 *
 * @throws {DatabaseError} if the database cannot be opened.
 */
export async function openSqlite(options: BetterSqlite3DataSourceOptions): Promise<DataSource> {
  const dataSource = new DataSource(options);
  try {
    await dataSource.initialize();
    await migrate(dataSource);
    // The process has one connection: a transaction of TypeORM would take in what others write meanwhile, and its rollback would undo it.
    dataSource.driver.transactionSupport = 'none';
    await dataSource.query(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    return dataSource;
  } catch (error) {
    if (dataSource.isInitialized) await dataSource.destroy();
    const reason = reasonOf(error, options.database);
    throw new DatabaseError(`The database file ${options.database} cannot be opened: ${reason}.`, { cause: error });
  }
}

async function prepare(database: Database): Promise<void> {
  // In WAL mode, readers and the single writer do not wait for each other, and several processes can open the file.
  await onceFree(() => database.pragma('journal_mode = WAL'));
  // With WAL, a crash of the machine can lose the last transactions, but never damages the file.
  database.pragma('synchronous = NORMAL');
}

/** After a failure, the caller closes the database, which undoes the transaction. */
async function migrate(dataSource: DataSource): Promise<void> {
  const queryRunner = dataSource.createQueryRunner();
  await onceFree(() => queryRunner.query('BEGIN IMMEDIATE'));
  await runMigrations(dataSource, queryRunner);
  await queryRunner.query('COMMIT');
}

/**
 * Runs `statement`, and retries it while the database is locked. The retries end after {@link START_TIMEOUT_MS}.
 *
 * SQLite's own wait would block this process. A second data source in the same process could then never release its lock.
 */
async function onceFree(statement: () => unknown): Promise<void> {
  const deadline = elapsedMs() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await statement();
      return;
    } catch (error) {
      if (codeOf(error)?.startsWith('SQLITE_BUSY') !== true || elapsedMs() > deadline) throw error;
    }
    await sleep(RETRY_AFTER_MS);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of its path is not a folder',
  EEXIST: 'a part of its path is not a folder',
  SQLITE_CANTOPEN: 'permission denied',
  SQLITE_READONLY: 'the file is not writable',
  SQLITE_NOTADB: 'the file is not a SQLite database',
  SQLITE_CORRUPT: 'the file is damaged',
  SQLITE_FULL: 'the disk is full',
  SQLITE_BUSY: 'another process has locked the file',
};

function reasonOf(error: unknown, path: string): string {
  const code = codeOf(error) ?? '';
  if (code.startsWith('SQLITE_CANTOPEN') && isFolder(path)) return 'the path is a folder';
  // Extended codes start with the basic code, such as SQLITE_READONLY_DIRECTORY.
  const basic = Object.keys(REASONS).find((known) => code === known || code.startsWith(`${known}_`)) ?? '';
  return REASONS[basic] ?? (error instanceof Error ? error.message : String(error));
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
