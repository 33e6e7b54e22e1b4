import type { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AtomicStatements } from '../../../../../src/platform/database/queries/atomic-statements.js';
import { openSqlite, sqliteOptions } from '../../../../../src/platform/database/sqlite/open-sqlite.js';

let dataSource: DataSource;

beforeEach(async () => {
  dataSource = await openSqlite(sqliteOptions(':memory:'));
  await dataSource.query('CREATE TABLE acme_counts (id TEXT PRIMARY KEY, requests INTEGER NOT NULL)');
});
afterEach(() => dataSource.destroy());

const rows = (): Promise<unknown> => dataSource.query('SELECT id, requests FROM acme_counts ORDER BY id');

describe('the one connection of a process to SQLite', () => {
  it('has no transaction that would take in what others write meanwhile', async () => {
    const failing = dataSource.transaction(async ({ queryRunner }) => {
      await queryRunner?.query("INSERT INTO acme_counts VALUES ('plugin', 1)");
      throw new Error('of the plugin');
    });
    await dataSource.query("INSERT INTO acme_counts VALUES ('service', 1)");
    await expect(failing).rejects.toThrow("Transactions aren't supported");
    expect(await rows()).toEqual([{ id: 'service', requests: 1 }]);
  });

  it('changes several rows or none', async () => {
    const atomic = new AtomicStatements(dataSource);
    const insert = (id: string) => ({
      sql: 'INSERT INTO acme_counts (id, requests) VALUES (:id, 0) RETURNING id',
      parameters: { id },
    });
    const row = { table: 'acme_counts', id: 'a' };
    expect(await atomic.change(row, [insert('a'), insert('b')])).toEqual([[{ id: 'a' }], [{ id: 'b' }]]);
    await expect(atomic.change(row, [insert('c'), insert('a')])).rejects.toThrow('UNIQUE');
    expect(await rows()).toHaveLength(2);
  });
});
