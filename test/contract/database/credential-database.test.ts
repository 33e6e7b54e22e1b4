import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import { Account } from '../../../src/accounts/account/account.entity.js';
import { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import { EmbeddedAvailability } from '../../../src/platform/database/database-availability.js';
import { dataSourceOptions, openDataSource } from '../../../src/platform/database/database.module.js';
import { PostgresAvailability } from '../../../src/platform/database/postgres/postgres-availability.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { Latch, isOver } from '../../support/latch.js';
import { waitFor } from '../../support/wait-for.js';

describe.each(await testEngines())('the database for credentials on $name', (engine) => {
  let database: TestDatabase;
  let main: DataSource;

  beforeAll(async () => {
    database = await engine.create();
    main = await openDataSource({ ...dataSourceOptions(database.config), entities: [Account, ApiKey] });
  });
  afterAll(async () => {
    await main.destroy();
    await database.drop();
  });

  const availabilityOf = () =>
    database.config.type === 'postgres' ? new PostgresAvailability(database.config.url) : new EmbeddedAvailability();

  it('closes its own connections at the end, waits for them, and leaves other connections open', async () => {
    const credentials = await CredentialDatabase.open(main, availabilityOf());
    const source = credentials.repository(ApiKey).manager.dataSource;
    const latch = new Latch();
    const { destroy } = DataSource.prototype;
    vi.spyOn(source, 'destroy').mockImplementation(() => latch.opened.then(() => destroy.call(source)));

    const end = credentials.onApplicationShutdown();

    expect(await isOver(end)).toBe(engine.name === 'SQLite');
    latch.open();
    await end;
    expect([source === main, source.isInitialized]).toEqual(engine.name === 'SQLite' ? [true, true] : [false, false]);
    await expect(credentials.onApplicationShutdown()).resolves.toBeUndefined();
    expect(await main.getRepository(ApiKey).count()).toBe(0);
    vi.restoreAllMocks();
  });

  if (engine.name === 'PostgreSQL')
    it('gets new connections when the probe has found the old ones dead', async () => {
      const availability = availabilityOf();
      const silences: (() => void)[] = [];
      vi.spyOn(availability as PostgresAvailability, 'whenSilent').mockImplementation((listener) =>
        silences.push(listener),
      );
      const credentials = await CredentialDatabase.open(main, availability);
      const server = () =>
        credentials
          .repository(ApiKey)
          .query('SELECT pg_backend_pid() AS pid')
          .then(([row]: { pid: number }[]) => row?.pid);
      const old = await server();
      expect(await server()).toBe(old);

      for (const release of silences) release();

      await waitFor(async () => ![old, undefined].includes(await server().catch(() => undefined)), 'a new connection');
      await credentials.onApplicationShutdown();
    });
});
