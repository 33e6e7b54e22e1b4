import pg from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { configFile, routesTo } from '../support/catalog.js';
import { Installation } from '../support/process.js';
import { get } from '../support/sse-client.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

describe.skipIf(stores === undefined)('replicas that start at the same moment on PostgreSQL and Redis', () => {
  afterAll(() => stores?.redis.drop());

  it('make the tables once, and all of them serve', async () => {
    const { postgres, redis } = stores as NonNullable<typeof stores>;
    const database = await postgres.createEmpty();
    const url = database.config.type === 'postgres' ? database.config.url : '';
    const installation = await Installation.create(configFile(routesTo(['http://127.0.0.1:9'])));
    try {
      const processes = Array.from({ length: 3 }, () =>
        installation.start({ DATABASE_URL: url, REDIS_URL: redis.url }),
      );
      const origins = await Promise.all(processes.map((process) => process.origin()));

      for (const origin of origins) {
        const ready = await get(origin, '/api/v1/health/ready');
        expect(ready.status).toBe(200);
        expect(JSON.parse(ready.raw)).toEqual({
          status: 'ready',
          parts: { database: 'up', redis: 'up', draining: false },
        });
      }
      expect(processes.map(({ stderr }) => stderr)).toEqual(['', '', '']);
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      const { rows } = await client.query<{ name: string; times: number }>(
        'SELECT name, COUNT(*)::int AS times FROM migrations GROUP BY name',
      );
      await client.end();
      expect(rows.length).toBeGreaterThan(0);
      expect(rows.every(({ times }) => times === 1)).toBe(true);
    } finally {
      await installation.remove();
      await database.drop();
    }
  }, 120_000);
});
