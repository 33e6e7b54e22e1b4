import { DataSource } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MIGRATIONS } from '../../../src/database/migrations/all-migrations.js';
import { LIST_INDEXES } from '../../../src/database/migrations/list-indexes.js';
import { dataSourceOptions, openDataSource } from '../../../src/database/open-data-source.js';
import { testEngines, type TestDatabase } from '../../support/database.js';

const NAMES = LIST_INDEXES.map(({ name }) => name).sort();
const REPLACED = LIST_INDEXES.flatMap(({ replaces }) => replaces?.name ?? []);
const BEFORE_THE_INDEXES = MIGRATIONS.findIndex(({ name }) => name.startsWith('AddListIndexes'));

describe.each(await testEngines())('the indexes of large tables on $name', (engine) => {
  let database: TestDatabase;
  let sources: DataSource[];

  beforeEach(async () => {
    database = await engine.create();
    sources = [];
    const earlier = { ...dataSourceOptions(database.config), migrations: MIGRATIONS.slice(0, BEFORE_THE_INDEXES) };
    const source = await new DataSource(earlier).initialize();
    sources.push(source);
    await source.runMigrations({ transaction: 'each' });
  });
  afterEach(async () => {
    await Promise.all(sources.map((source) => source.destroy()));
    await database.drop();
  });

  async function start(): Promise<DataSource> {
    const source = await openDataSource(dataSourceOptions(database.config));
    sources.push(source);
    return source;
  }

  async function validIndexes(source: DataSource): Promise<string[]> {
    const rows = await source.query<{ name: string }[]>(
      engine.name === 'PostgreSQL'
        ? `SELECT relname AS name FROM pg_index JOIN pg_class ON pg_class.oid = indexrelid
            WHERE relnamespace = current_schema()::regnamespace AND indisvalid`
        : `SELECT name FROM sqlite_master WHERE type = 'index'`,
    );
    return rows
      .map(({ name }) => name)
      .filter((name) => [...NAMES, ...REPLACED].includes(name))
      .sort();
  }

  it('are built once by replicas that start at the same time, instead of the earlier indexes', async () => {
    const [one] = await Promise.all([start(), start(), start()]);
    expect(await validIndexes(one)).toEqual(NAMES);
  });

  // On SQLite, an index is whole or missing.
  if (engine.name === 'PostgreSQL')
    it('are built again after a build that was interrupted', async () => {
      const first = await start();
      await first.query(`UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'usage_records_by_time'::regclass`);
      expect(await validIndexes(await start())).toEqual(NAMES);
    });
});
