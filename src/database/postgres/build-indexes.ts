import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';
import { createIndex, LIST_INDEXES, type ListIndex } from '../migrations/list-indexes.js';

/** The key of the advisory lock. Any number works if no other program uses the same number in this database. */
const INDEX_LOCK = 2_094_771_464;
const RETRY_AFTER_MS = 500;

interface IndexState {
  readonly has_table: boolean;
  /** `null`: there is no index. `false`: the index is being built, or its build was interrupted. */
  readonly is_valid: boolean | null;
  readonly has_replaced: boolean;
}

/**
 * Builds the indexes of large tables that are missing, and drops the indexes that they replace. Other processes can read and
 * write the tables meanwhile. A build waits for older transactions, such as a backup.
 *
 * Several replicas may start at the same time: one builds, and the others wait. A transaction without a snapshot holds the
 * lock, and a replica without the lock tries again: a build would wait for a statement that waits for the lock.
 *
 * @param dataSource has two connections.
 */
export async function buildIndexes(dataSource: DataSource): Promise<void> {
  const locker = dataSource.createQueryRunner();
  const builder = dataSource.createQueryRunner();
  try {
    while (!(await areReady(builder))) {
      await locker.startTransaction();
      // Without parameters: the portal of a statement with parameters would keep a snapshot, for which a build waits.
      const [lock] = (await locker.query(`SELECT pg_try_advisory_xact_lock(${INDEX_LOCK}) AS taken`)) as {
        readonly taken: boolean;
      }[];
      if (lock?.taken === true) for (const index of LIST_INDEXES) await build(builder, index);
      await locker.commitTransaction();
      if (lock?.taken !== true) await sleep(RETRY_AFTER_MS);
    }
  } finally {
    await locker.release();
    await builder.release();
  }
}

async function areReady(queryRunner: QueryRunner): Promise<boolean> {
  for (const index of LIST_INDEXES) {
    const { has_table: hasTable, is_valid: isValid, has_replaced: hasReplaced } = await stateOf(queryRunner, index);
    // The migrations create the tables of a new database together with their indexes.
    if (hasTable && (isValid !== true || hasReplaced)) return false;
  }
  return true;
}

/** Requires the lock: an invalid index is then the rest of an interrupted build. */
async function build(queryRunner: QueryRunner, index: ListIndex): Promise<void> {
  const { has_table: hasTable, is_valid: isValid } = await stateOf(queryRunner, index);
  if (!hasTable) return;
  if (isValid === false) await drop(queryRunner, index.name);
  if (isValid !== true) await queryRunner.query(createIndex(index, true));
  if (index.replaces !== undefined) await drop(queryRunner, index.replaces.name);
}

async function stateOf(queryRunner: QueryRunner, { name, table, replaces }: ListIndex): Promise<IndexState> {
  const states = (await queryRunner.query(
    `SELECT to_regclass($1) IS NOT NULL AS has_table, to_regclass($3) IS NOT NULL AS has_replaced,
      (SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass($2)) AS is_valid`,
    [table, name, replaces && `"${replaces.name}"`],
  )) as [IndexState];
  return states[0];
}

async function drop(queryRunner: QueryRunner, name: string): Promise<void> {
  await queryRunner.query(`DROP INDEX CONCURRENTLY IF EXISTS "${name}"`);
}
