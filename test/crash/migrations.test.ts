import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DataSource, type MigrationInterface } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MIGRATIONS } from '../../src/database/migrations/all-migrations.js';
import { dataSourceOptions, openDataSource } from '../../src/database/open-data-source.js';
import { testEngines, type TestDatabase } from '../support/database.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

describe.each(await testEngines())('migrations on $name', (engine) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await engine.create();
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await database.drop();
  });

  const open = () => openDataSource(dataSourceOptions(database.config));
  /** What is there, seen without migrating. */
  async function names(): Promise<string[]> {
    const source = await new DataSource({ ...dataSourceOptions(database.config), migrations: [] }).initialize();
    try {
      const rows = await source.query<{ name: string }[]>('SELECT name FROM migrations ORDER BY id').catch(() => []);
      if (rows.length === 0) await expect(source.query('SELECT id FROM accounts')).rejects.toThrow(/accounts/);
      return rows.map(({ name }) => name);
    } finally {
      await source.destroy();
    }
  }

  it.each(MIGRATIONS.map((migration) => ({ migration, name: migration.name })))(
    'where $name fails after its statements nothing of the start is there, and the next start does all',
    async ({ migration }) => {
      const prototype = migration.prototype;
      const up = Object.getOwnPropertyDescriptor(prototype, 'up')?.value as MigrationInterface['up'];
      const fault = vi.spyOn(prototype, 'up').mockImplementation(async (queryRunner) => {
        await up.call(new migration(), queryRunner);
        throw new Error('injected fault');
      });

      await expect(open()).rejects.toThrow('injected fault');

      expect(await names()).toEqual([]);
      fault.mockRestore();
      const source = await open();
      await source.destroy();
      expect(await names()).toEqual(NAMES);
    },
  );

  it('killed in the middle nothing of the start is there, and the next start does all', async () => {
    const killedIn = MIGRATIONS[3] as (typeof MIGRATIONS)[number];
    if (database.config.type === 'sqlite') {
      await mkdir(dirname(database.config.path), { recursive: true });
      const words = [join(import.meta.dirname, 'die-in-migration.mjs'), database.config.path, killedIn.name];
      expect(spawnSync(process.execPath, words, { encoding: 'utf8' })).toMatchObject({ signal: 'SIGKILL', stderr: '' });
    } else {
      // To the server, it is the same.
      const fault = vi.spyOn(killedIn.prototype, 'up').mockImplementation(async (queryRunner) => {
        await queryRunner.query('SELECT pg_terminate_backend(pg_backend_pid())');
      });
      await expect(open()).rejects.toThrow('cannot be used');
      fault.mockRestore();
    }
    expect(await names()).toEqual([]);
    await (await open()).destroy();
    expect(await names()).toEqual(NAMES);
  });

  it('an upgrade that fails leaves the version before as it was, and the next sums up each record once', async () => {
    const atUsage = MIGRATIONS.slice(0, 3);
    const later = MIGRATIONS.splice(3);
    await (await open()).destroy();
    MIGRATIONS.push(...later);
    const before = await new DataSource({ ...dataSourceOptions(database.config), migrations: [] }).initialize();
    for (const id of ['one', 'two']) {
      await before.query(
        `INSERT INTO usage_records (id, request_id, account_id, credential, model, attempts, started_at, outcome,
           prompt_tokens_source, completion_tokens_source)
         VALUES ('${id}', '${id}', 'ada', 'api_key', 'acme/fast', 1, '2026-11-20T10:00:00.000Z', 'completed',
           'unknown', 'unknown')`,
      );
    }
    await before.destroy();
    const last = MIGRATIONS.at(-1) as (typeof MIGRATIONS)[number];
    const fault = vi.spyOn(last.prototype, 'up').mockRejectedValue(new Error('injected fault'));

    await expect(open()).rejects.toThrow('injected fault');
    await expect(open()).rejects.toThrow('injected fault');

    expect(await names()).toEqual(atUsage.map(({ name }) => name));
    fault.mockRestore();
    const source = await open();
    expect(await source.query('SELECT requests, completed FROM usage_days')).toEqual([
      expect.objectContaining({ requests: expect.anything() as unknown }),
    ]);
    const [sums] = await source.query<{ requests: string | number }[]>('SELECT requests FROM usage_days');
    expect(Number(sums?.requests)).toBe(2);
    await source.destroy();
  });
});
