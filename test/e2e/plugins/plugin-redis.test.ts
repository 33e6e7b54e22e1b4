import { Inject, Injectable } from '@nestjs/common';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ChatPlugin } from '../../../src/plugin-api/chat-plugin.decorator.js';
import { PluginRedis } from '../../../src/plugin-api/plugin-redis.js';
import { createTestService, type TestService } from '../../../src/testing/service/test-service.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { testRedis } from '../../support/redis.js';
import { waitFor } from '../../support/wait-for.js';

@Injectable()
class Jobs {
  constructor(@Inject(PluginRedis) readonly redis: PluginRedis | undefined) {}
}

@ChatPlugin({ name: 'jobs', compatibility: '^1', providers: [Jobs] })
class JobsPlugin {}

const services: TestService[] = [];

async function jobs(env: Readonly<Record<string, string>>): Promise<Jobs> {
  const service = await createTestService({ plugins: [JobsPlugin], env });
  services.push(service);
  return service.app.get(Jobs, { strict: false });
}

afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.stop()));
});

it('a plugin gets no Redis without REDIS_URL', async () => {
  expect((await jobs({})).redis).toBeUndefined();
});

const server = await testRedis();
const postgres = (await testEngines()).find(({ name }) => name.startsWith('PostgreSQL'));
const stores = server !== undefined && postgres !== undefined ? [{ server, postgres }] : [];

describe.each(stores)('the Redis of a plugin', ({ server: { url, client, drop }, postgres: engine }) => {
  let env: Readonly<Record<string, string>>;
  let database: TestDatabase;

  beforeAll(async () => {
    database = await engine.create();
    const { config } = database;
    env = { REDIS_URL: url, DATABASE_URL: config.type === 'postgres' ? config.url : '' };
  });
  afterAll(async () => {
    await database.drop();
    await drop();
  });

  it('is that of the service, with a prefix, and shared by the replicas', async () => {
    const [{ redis: one }, { redis: other }] = [await jobs(env), await jobs(env)];
    await waitFor(() => (one?.isUnavailable === false && other?.isUnavailable === false) || undefined, 'Redis');
    const count = (redis: PluginRedis | undefined) => redis?.run('count', (commands, key) => commands.incr(key));

    expect([await count(one), await count(other)]).toEqual([1, 2]);
    expect(one?.key('count')).toBe('chat:plugin:jobs:count');
    expect(await client.get('chat:plugin:jobs:count')).toBe('2');
  });

  it('fails at once with the error of a command', async () => {
    const { redis } = await jobs(env);
    await waitFor(() => redis?.isUnavailable === false || undefined, 'Redis');
    await redis?.run('text', (commands, key) => commands.set(key, 'text'));
    await expect(redis?.run('text', (commands, key) => commands.incr(key))).rejects.toThrow('not an integer');
  });
});
