import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Account } from '../../../src/accounts/accounts/account.entity.js';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import type { DatabaseConfig } from '../../../src/config/config.js';
import { DatabaseError } from '../../../src/database/database-error.js';
import { DatabaseHealth } from '../../../src/database/database-health.js';
import { EmbeddedPresence } from '../../../src/database/database-presence.js';
import { MIGRATIONS } from '../../../src/database/migrations/all-migrations.js';
import { dataSourceOptions, openDataSource } from '../../../src/database/open-data-source.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { openAccountsApp } from './accounts-app.js';

const open = (config: DatabaseConfig, entities: (new () => object)[] = []) =>
  openDataSource({ ...dataSourceOptions(config), entities });

describe.each(await testEngines())('the database on $name', (engine) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await engine.create();
  });
  afterAll(() => database.drop());

  it('is migrated once when several start at once', async () => {
    const started = await Promise.all([1, 2, 3, 4].map(() => open(database.config)));
    const rows: unknown = await started[0]?.query('SELECT name FROM migrations ORDER BY id');
    expect(rows).toEqual(MIGRATIONS.map(({ name }) => ({ name })));
    await Promise.all(started.map((each) => each.destroy()));
  });

  it('has after the migrations what the entities say', async () => {
    const dataSource = await open(database.config, [Account, ApiKey]);
    const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
    await dataSource.destroy();
  });

  it('finds keys by hash, and those of an account, over an index', async () => {
    const dataSource = await open(database.config, [Account, ApiKey]);
    const table = await dataSource.createQueryRunner().getTable('api_keys');
    const indexed = [...(table?.indices ?? []), ...(table?.uniques ?? [])].map(({ columnNames }) => columnNames.join());
    expect(indexed).toEqual(expect.arrayContaining(['hashed_key', 'account_id']));
    await dataSource.destroy();
  });

  it('answers a ping while it is there', async () => {
    const app = await openAccountsApp(database.config);
    await expect(app.get(DatabaseHealth, { strict: false }).ping()).resolves.toBe(true);
    await app.close();
  });
});

describe('a ping', () => {
  it('tells that the database file cannot be read', async () => {
    const failing = { options: { type: 'better-sqlite3' }, query: () => Promise.reject(new Error('SQLITE_IOERR')) };
    const health = new DatabaseHealth(failing as unknown as DataSource, new EmbeddedPresence());
    await expect(health.ping()).resolves.toBe(false);
  });

  it('gives up a database that hangs after a second, and asks it once', async () => {
    let asked = 0;
    const query = () => new Promise(() => (asked += 1));
    const hanging = { options: { type: 'better-sqlite3' }, query } as unknown as DataSource;
    const health = new DatabaseHealth(hanging, new EmbeddedPresence());
    await expect(Promise.all([health.ping(), health.ping()])).resolves.toEqual([false, false]);
    expect(asked).toBe(1);
  });
});

describe('a SQLite file', () => {
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'chat-test-'));
    await writeFile(join(folder, 'text'), 'This is certainly not a database. '.repeat(100));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['text', 'the file is not a SQLite database'],
    ['', 'the path is a folder'],
    ['text/chat.sqlite', 'a part of its path is not a folder'],
  ])('at %j is refused in one line', async (name, reason) => {
    const path = join(folder, name);
    await expect(open({ type: 'sqlite', path })).rejects.toThrow(
      new DatabaseError(`The database file ${path} cannot be opened: ${reason}.`),
    );
  });

  it('is written ahead, with foreign keys, and waits for other processes', async () => {
    const dataSource = await open({ type: 'sqlite', path: join(folder, 'chat.sqlite') });
    const pragma = async (name: string) =>
      Object.values((await dataSource.query<object[]>(`PRAGMA ${name}`))[0] ?? {})[0] as unknown;
    await expect(pragma('journal_mode')).resolves.toBe('wal');
    await expect(pragma('synchronous')).resolves.toBe(1);
    await expect(pragma('foreign_keys')).resolves.toBe(1);
    await expect(pragma('busy_timeout')).resolves.toBe(5000);
    await dataSource.destroy();
  });

  it('may be memory', async () => {
    const dataSource = await open({ type: 'sqlite', path: ':memory:' }, [Account]);
    await expect(dataSource.getRepository(Account).count()).resolves.toBe(0);
    await dataSource.destroy();
  });
});

describe('a PostgreSQL server', () => {
  it('that is away is told in one line without the password', async () => {
    const free = createServer().listen(0, '127.0.0.1');
    await once(free, 'listening');
    const { port } = free.address() as AddressInfo;
    free.close();
    await once(free, 'close');
    const url = `postgres://chat:secret@127.0.0.1:${port}/chat`;
    await expect(open({ type: 'postgres', url })).rejects.toThrow(
      new DatabaseError(
        `The database postgres://127.0.0.1:${port}/chat cannot be used: no server listens at this address.`,
      ),
    );
  });
});
