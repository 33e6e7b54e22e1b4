import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DataSource, type MigrationInterface } from 'typeorm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { MIGRATIONS } from '../../src/platform/database/migrations/all-migrations.js';
import { migration, statements } from '../../src/platform/database/migrations/migration.js';
import { dataSourceOptions, openDataSource } from '../../src/platform/database/database.module.js';
import { testEngines, type TestDatabase } from '../support/database.js';

const NAMES = MIGRATIONS.map(({ name }) => name);

describe.each(await testEngines())('migrations on $name', (engine) => {
  let database: TestDatabase;

  beforeEach(async () => {
    database = await engine.createEmpty();
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
    const killedIn = MIGRATIONS[0] as (typeof MIGRATIONS)[number];
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

  it('an upgrade that fails leaves the tables as they were, and the next start upgrades them', async () => {
    await (await open()).destroy();
    const add = statements(['ALTER TABLE accounts ADD COLUMN color text']);
    const AddColor = migration('AddColor1999000000000', add);
    const FailAfterwards = migration('FailAfterwards1999000000001', fail);
    MIGRATIONS.push(AddColor, FailAfterwards);
    try {
      await expect(open()).rejects.toThrow('injected fault');
      expect(await names()).toEqual(NAMES);

      MIGRATIONS.pop();
      const source = await open();
      expect(await source.query('SELECT color FROM accounts')).toEqual([]);
      await source.destroy();
      expect(await names()).toEqual([...NAMES, AddColor.name]);
    } finally {
      MIGRATIONS.splice(NAMES.length);
    }
  });
});

function fail(): Promise<never> {
  return Promise.reject(new Error('injected fault'));
}
