import { Logger } from '@nestjs/common';
import Database from 'better-sqlite3';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { DataSource } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { Account } from '../../../src/accounts/account/account.entity.js';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import type { DatabaseConfig } from '../../../src/platform/config/config.js';
import { DatabaseError } from '../../../src/platform/database/database-error.js';
import { DatabaseHealth, EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { MIGRATIONS } from '../../../src/platform/database/migrations/all-migrations.js';
import type { Migration } from '../../../src/platform/database/migrations/migration.js';
import { dataSourceOptions, openDataSource } from '../../../src/platform/database/database.module.js';
import { ClientWithQueryTimeout } from '../../../src/platform/database/postgres/pool-clients.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { Latch, isOver } from '../../support/latch.js';
import { waitFor } from '../../support/wait-for.js';
import { openAccountsApp } from './accounts-app.js';

afterEach(() => {
  vi.restoreAllMocks();
});

const open = (config: DatabaseConfig, entities: (new () => object)[] = []) =>
  openDataSource({ ...dataSourceOptions(config), entities });

const [CreateTables] = MIGRATIONS as [Migration];

describe.each(await testEngines())('the database on $name', (engine) => {
  let database: TestDatabase;

  beforeAll(async () => {
    database = await engine.createEmpty();
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

  it('is closed before a failed migration is reported', async () => {
    const empty = await engine.createEmpty();
    vi.spyOn(CreateTables.prototype, 'up').mockRejectedValue(new Error('no role'));
    const latch = new Latch();
    const sources: DataSource[] = [];
    vi.spyOn(DataSource.prototype, 'destroy').mockImplementation(async function (this: DataSource) {
      sources.push(this);
      await latch.opened;
    });
    const failure = open(empty.config).catch(String);
    await waitFor(() => sources.length === 1, 'it to be closed');
    expect(await isOver(failure)).toBe(false);
    latch.open();
    expect(await failure).toMatch(/^DatabaseError: The database .* no role\.$/);
    vi.restoreAllMocks();

    for (const source of sources) await source.destroy();
    await (await open(empty.config)).destroy();
    await empty.drop();
  });

  if (engine.name === 'PostgreSQL') {
    /** Fails with this error when the migrations have run, and connects then. */
    const failAfterMigrations = (message: string, code: string): void => {
      const { initialize } = DataSource.prototype;
      let opened = 0;
      vi.spyOn(DataSource.prototype, 'initialize').mockImplementation(function (this: DataSource) {
        opened += 1;
        if (opened !== 2) return initialize.call(this);
        return Promise.reject(Object.assign(new Error(message), { code }));
      });
    };

    it.each([
      ['53300', 'sorry', 'the server has too many connections.'],
      ['55P03', 'canceling statement', 'a backup or a long query locks a table that must change: '],
      ['08P01', 'unsupported startup parameter: options', 'unsupported startup parameter: options.'],
    ])('that refuses with %s after the migrations is reported in one line, too', async (code, message, reason) => {
      failAfterMigrations(message, code);
      const failure = await open(database.config).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(DatabaseError);
      expect(failure).toMatchObject({ message: expect.stringContaining(reason) as string });
    });

    it('ends the transaction of a client that has vanished, so that its locks are free', async () => {
      const dataSource = await open(database.config);
      const vanished = dataSource.createQueryRunner();
      expect(await vanished.query('SHOW idle_in_transaction_session_timeout')).toEqual([
        { idle_in_transaction_session_timeout: '10s' },
      ]);
      await vanished.query('SET idle_in_transaction_session_timeout = 100');
      await vanished.startTransaction();
      await vanished.query('LOCK TABLE accounts');
      expect(await dataSource.query('SELECT COUNT(*)::int AS count FROM accounts')).toHaveLength(1);
      await expect(vanished.query('SELECT 1')).rejects.toThrow();
      await vanished.release();
      await dataSource.destroy();
    });

    it('whose pooler refuses some limits keeps the others', async () => {
      vi.spyOn(Logger.prototype, 'log').mockReturnValue();
      failAfterMigrations('unsupported startup parameter: statement_timeout', '08P01');
      const dataSource = await open(database.config);
      const extraOf = (options: object) => (options as { readonly extra: { readonly Client: typeof pg.Client } }).extra;
      const { Client, ...extra } = extraOf(dataSourceOptions(database.config));
      const refused = { statement_timeout: undefined, idle_in_transaction_session_timeout: undefined };
      expect(dataSource.options).toMatchObject({ extra: { ...extra, ...refused } });
      // Each pool has a class of its own, which ends connections without a reply.
      for (const type of [Client, extraOf(dataSource.options).Client]) {
        expect(type.prototype).toBeInstanceOf(ClientWithQueryTimeout);
      }
      await dataSource.destroy();
    });
  }

  it('answers a ping while it is there', async () => {
    const app = await openAccountsApp(database.config);
    await expect(app.get(DatabaseHealth, { strict: false }).ping()).resolves.toBe(true);
    await app.close();
  });
});

describe('a ping', () => {
  it('reports that the database file cannot be read', async () => {
    const failing = { options: { type: 'better-sqlite3' }, query: () => Promise.reject(new Error('SQLITE_IOERR')) };
    const health = new DatabaseHealth(failing as unknown as DataSource, new EmbeddedAvailability());
    await expect(health.ping()).resolves.toBe(false);
  });

  it('times out after a second on a database that hangs, and queries it once', async () => {
    let queries = 0;
    const query = () => new Promise(() => (queries += 1));
    const hanging = { options: { type: 'better-sqlite3' }, query } as unknown as DataSource;
    const health = new DatabaseHealth(hanging, new EmbeddedAvailability());
    await expect(Promise.all([health.ping(), health.ping()])).resolves.toEqual([false, false]);
    expect(queries).toBe(1);
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

  it('that another process writes is waited for while other work goes on, and opened then', async () => {
    const path = join(folder, 'busy.sqlite');
    await (await open({ type: 'sqlite', path })).destroy();
    const other = new Database(path);
    other.exec('BEGIN IMMEDIATE');
    let isOpen = false;
    const opening = open({ type: 'sqlite', path }).finally(() => (isOpen = true));
    await sleep(300);
    expect(isOpen).toBe(false);
    other.exec('COMMIT');
    other.close();
    await (await opening).destroy();
  });

  it('at the start is not waited for by SQLite itself, which would block the process', async () => {
    const { up } = CreateTables.prototype;
    const waits: unknown[] = [];
    vi.spyOn(CreateTables.prototype, 'up').mockImplementation(async (queryRunner) => {
      waits.push(await queryRunner.query('PRAGMA busy_timeout'));
      await up.call(new CreateTables(), queryRunner);
    });
    await (await open({ type: 'sqlite', path: ':memory:' })).destroy();
    expect(waits).toEqual([[{ timeout: 0 }]]);
  });

  it.each(['SQLITE_BUSY', 'SQLITE_BUSY_RECOVERY'])(
    'that is locked (%s) when it is opened is tried again',
    async (code) => {
      const pragma = vi.spyOn(Database.prototype, 'pragma').mockImplementationOnce(() => {
        throw Object.assign(new Error('database is locked'), { code });
      });
      await (await open({ type: 'sqlite', path: join(folder, `${code}.sqlite`) })).destroy();
      expect(pragma.mock.calls.slice(0, 2)).toEqual([['journal_mode = WAL'], ['journal_mode = WAL']]);
    },
  );

  it('that stays locked is given up after half a minute', async () => {
    const path = join(folder, 'locked.sqlite');
    const started = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(started);
    const moments = [30_000, 30_001];
    const pragma = vi.spyOn(Database.prototype, 'pragma').mockImplementation(() => {
      clock.mockReturnValue(started + (moments.shift() ?? 0));
      throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
    });
    await expect(open({ type: 'sqlite', path })).rejects.toThrow(
      new DatabaseError(`The database file ${path} cannot be opened: another process has locked the file.`),
    );
    expect(pragma).toHaveBeenCalledTimes(2);
  });

  it('may be memory', async () => {
    const dataSource = await open({ type: 'sqlite', path: ':memory:' }, [Account]);
    await expect(dataSource.getRepository(Account).count()).resolves.toBe(0);
    await dataSource.destroy();
  });
});

describe('a PostgreSQL server', () => {
  it('that is unavailable is reported in one line without the password', async () => {
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
