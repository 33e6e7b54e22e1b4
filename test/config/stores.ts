import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { CONFIG, type Config } from '../../src/platform/config/config.js';
import { configFile, routesTo } from '../support/catalog.js';
import { testEngines } from '../support/database.js';
import { testRedis } from '../support/redis.js';
import { get, stream } from '../support/sse-client.js';
import { notWithin, serving, shown, type Effects } from './effect.js';

const DATABASE_PROBLEM = 'DATABASE_URL: must be sqlite:<path> or postgres://…';
const REDIS_PROBLEM =
  'REDIS_URL: must be redis://…, rediss://…, redis+sentinel://host:port,…/<master> or redis+cluster://host:port,… (rediss+… with TLS)';

const REDIS_PROBLEM_OF_SENTINEL =
  'REDIS_URL: must name the master that the Sentinels watch: redis+sentinel://host:port,…/<master>';

/** Stores, and the file of upstreams, models and tiers. */
export const stores: Effects = {
  DATABASE_URL: {
    async set() {
      for (const engine of await testEngines()) {
        const { config, drop } = await engine.create();
        const env = { DATABASE_URL: config.type === 'sqlite' ? `sqlite:${config.path}` : config.url };
        let keyOfBefore: string | undefined;
        await serving({ env }, ({ key }) => {
          keyOfBefore = key;
          return Promise.resolve();
        });
        await serving({ env }, async ({ origin }) => {
          expect((await stream(origin, { key: keyOfBefore })).status).toBe(200);
        });
        await drop();
      }
    },
    unset: () =>
      inFolder(async (folder) => {
        await serving({ env: { DATABASE_URL: '' } }, async ({ origin, key }) => {
          expect((await stream(origin, { key })).status).toBe(200);
          expect(existsSync(join(folder, 'data', 'chat.sqlite'))).toBe(true);
        });
      }),
    refused: [
      ['mysql://localhost', DATABASE_PROBLEM],
      ['sqlite:', DATABASE_PROBLEM],
      ['postgres://[', DATABASE_PROBLEM],
      ['postgres://ada:pa%ss@localhost/chat', 'DATABASE_URL: has a % that is not encoded as %25'],
    ],
  },
  USAGE_RETENTION_DAYS: {
    // test/contract/usage/record-retention.test.ts shows the effect, with a clock of its own.
    ...shown({ USAGE_RETENTION_DAYS: '30' }, ({ service: { app } }) => app.get<Config>(CONFIG).usageRetentionDays, {
      set: 30,
      unset: undefined,
    }),
    refused: notWithin('USAGE_RETENTION_DAYS', 1, 36_500, 'a year'),
  },
  AUDIT_RETENTION_DAYS: {
    // test/e2e/accounts/audit-log.test.ts shows the effect, with a clock of its own.
    ...shown({ AUDIT_RETENTION_DAYS: '30' }, ({ service: { app } }) => app.get<Config>(CONFIG).auditRetentionDays, {
      set: 30,
      unset: undefined,
    }),
    refused: notWithin('AUDIT_RETENTION_DAYS', 1, 36_500, '1.5'),
  },
  REDIS_URL: {
    async set() {
      const postgres = (await testEngines()).find(({ name }) => name === 'PostgreSQL');
      const redis = await testRedis();
      // Both helpers say loudly which store does not answer.
      if (postgres === undefined || redis === undefined) return;
      const { config, drop } = await postgres.create();
      const env = { DATABASE_URL: config.type === 'postgres' ? config.url : '', REDIS_URL: redis.url };
      await serving({ env, tiers: { free: { requests_per_minute: 9 } } }, async ({ origin, key }) => {
        expect(await partsOf(origin)).toMatchObject({ redis: 'up' });
        const before = await redis.client.dbSize();
        expect((await stream(origin, { key })).status).toBe(200);
        expect(await redis.client.dbSize()).toBeGreaterThan(before);
      });
      await drop();
      await redis.drop();
    },
    unset: () =>
      serving({}, async ({ origin }) => {
        expect(await partsOf(origin)).toEqual({ database: 'up', draining: false });
      }),
    refused: [
      ['127.0.0.1:6379', REDIS_PROBLEM],
      ['http://127.0.0.1', REDIS_PROBLEM],
      ['redis+sentinel://127.0.0.1:26379', REDIS_PROBLEM_OF_SENTINEL],
      ['redis+sentinel://127.0.0.1:26379/a b', REDIS_PROBLEM_OF_SENTINEL],
      [
        'redis+cluster://127.0.0.1:7000/1',
        'REDIS_URL: a cluster has no databases: remove the number after the servers',
      ],
      ['redis://127.0.0.1', 'REDIS_URL: needs DATABASE_URL to be postgres://…, because replicas share both'],
    ],
  },
  CONFIG_FILE: {
    set: () =>
      inFolder(async (folder) => {
        const path = join(folder, 'ours.yaml');
        const [model] = routesTo(['http://127.0.0.1:9']).models;
        const ours = { ...routesTo(['http://127.0.0.1:9']), models: [{ ...model, id: 'ours/only' }] };
        await writeFile(path, configFile(ours));
        await serving({ env: { CONFIG_FILE: path } }, async ({ origin }) => {
          expect(await modelsOf(origin)).toEqual(['ours/only']);
        });
      }),
    unset: () =>
      serving({ env: { CONFIG_FILE: '' } }, async ({ origin }) => {
        expect(await modelsOf(origin)).toEqual(['builtin/eliza']);
      }),
    refused: [
      ['/nowhere/config.yaml', 'CONFIG_FILE: the file does not exist'],
      ['/', 'CONFIG_FILE: the path is not a regular file'],
    ],
  },
};

export async function modelsOf(origin: string): Promise<string[]> {
  const { models } = JSON.parse((await get(origin, '/api/v1/chat/models')).raw) as { models: { id: string }[] };
  return models.map(({ id }) => id);
}

async function partsOf(origin: string): Promise<object> {
  return (JSON.parse((await get(origin, '/api/v1/health/ready')).raw) as { parts: object }).parts;
}

/** In a new folder, which is the working folder meanwhile. */
async function inFolder(use: (folder: string) => Promise<void>): Promise<void> {
  const before = process.cwd();
  const folder = await mkdtemp(join(tmpdir(), 'chat-config-'));
  process.chdir(folder);
  try {
    await use(folder);
  } finally {
    process.chdir(before);
    await rm(folder, { recursive: true });
  }
}
