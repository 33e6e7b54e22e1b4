import { DataSource } from 'typeorm';
import { describe, expect, it, onTestFinished } from 'vitest';
import { postgresOptions } from '../../../src/platform/database/postgres/open-postgres.js';
import { testEngines } from '../../support/database.js';
import { TcpProxy } from '../../support/tcp-proxy.js';

const QUERY_TIMEOUT_MS = 500;

describe.each((await testEngines()).filter(({ name }) => name === 'PostgreSQL'))(
  'connections to $name that the network drops silently',
  (engine) => {
    it('fail one query, and not one for each connection', async () => {
      const database = await engine.create();
      onTestFinished(() => database.drop());
      const { config } = database;
      const url = new URL(config.type === 'postgres' ? config.url : '');
      const proxy = await TcpProxy.start(Number(url.port));
      onTestFinished(() => proxy.stop());
      url.port = String(proxy.port);
      const options = postgresOptions(url.toString());
      const extra = { ...(options.extra as object), query_timeout: QUERY_TIMEOUT_MS };
      const source = await new DataSource({ ...options, extra, migrations: [] }).initialize();
      onTestFinished(() => source.destroy());
      await Promise.all(Array.from({ length: 6 }, () => source.query('SELECT pg_sleep(0.1)')));

      proxy.abandon();

      await expect(source.query('SELECT 1')).rejects.toThrow('timeout');
      for (let queries = 0; queries < 6; queries += 1)
        expect(await source.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
    });
  },
);
