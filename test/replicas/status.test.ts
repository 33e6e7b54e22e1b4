import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ReplicaStatuses } from '../../src/plugins/dashboard/operator/status/replica-statuses.js';
import { ConfigReloads } from '../../src/platform/config/config-reloads.js';
import { createTestService, type TestService } from '../../src/testing/service/test-service.js';
import { operatorSignedIn, type AccountSession } from '../support/account-session.js';
import { browserOf } from '../support/as-browser.js';
import { configFile, routesTo } from '../support/catalog.js';
import { testEngines, type TestDatabase } from '../support/database.js';
import { testRedis } from '../support/redis.js';
import { get } from '../support/sse-client.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { waitFor } from '../support/wait-for.js';

const PATH = '/operator/status';
const redis = await testRedis();
const engine = (await testEngines()).find(({ name }) => name === 'PostgreSQL');

describe.skipIf(redis === undefined || engine === undefined)('the status of replicas that share Redis', () => {
  let database: TestDatabase;
  let proxy: TcpProxy;
  let replicas: TestService[];
  let operator: AccountSession;

  beforeAll(async () => {
    database = (await engine?.create()) as TestDatabase;
    proxy = await TcpProxy.start(redis?.port ?? 0);
    const { config } = database;
    const DATABASE_URL = config.type === 'sqlite' ? '' : config.url;
    const [one, other] = [redis?.url ?? '', redis?.url.replace(/:\d+\//, `:${proxy.port}/`) ?? ''];
    const start = (REDIS_URL: string) =>
      createTestService({ config: configFile(routesTo(['http://127.0.0.1:9'])), env: { DATABASE_URL, REDIS_URL } });
    replicas = [await start(one), await start(other)];
    operator = await operatorSignedIn(replicas[0] as TestService);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.stop()));
    await proxy.stop();
    await database.drop();
    await redis?.drop();
  });

  const statusesOf = (index: number) => (replicas[index] as TestService).app.get(ReplicaStatuses, { strict: false });
  const open = async (index: number, query = '') =>
    (await browserOf((replicas[index] as TestService).origin, operator).get(PATH + query)).body();

  it('has all of them with their versions on each, and the details of the one that is chosen', async () => {
    const { app } = replicas[1] as TestService;
    app.get(ConfigReloads, { strict: false }).last = {
      at: Date.now(),
      result: 'invalid',
      problem: 'tiers: is missing.',
    };
    await statusesOf(1).publish();
    const html = await open(0);
    expect(html).toContain(`href="${PATH}?replica=${statusesOf(1).id}"`);
    expect(html).toContain('answers this page');
    expect(html).not.toContain('tiers: is missing.');
    expect(html.match(/<td role="cell" data-label="Version">\d+\.\d+\.\d+/g)).toHaveLength(2);
    expect(await open(0, `?replica=${statusesOf(1).id}`)).toContain('tiers: is missing.');
    expect(await open(0, '?replica=gone')).toContain('This replica is gone.');
  });

  it('adds up the minutes of all replicas', async () => {
    for (const { origin } of replicas)
      for (let count = 0; count < 20; count++) await get(origin, '/api/v1/chat/models');
    for (const index of replicas.keys()) await statusesOf(index).publish();
    const sums = await Promise.all(
      replicas.map(async (_, index) => {
        const { own, others = [] } = await statusesOf(index).all();
        return [own, ...others].map(({ snapshot }) => snapshot.minutes.reduce((sum, each) => sum + each.requests, 0));
      }),
    );
    for (const sum of sums) {
      expect(sum).toHaveLength(2);
      for (const each of sum) expect(each).toBeGreaterThanOrEqual(20);
    }
  });

  it('names this process and says that others are missing while Redis does not answer', async () => {
    proxy.cut();
    try {
      const html = await waitFor(async () => {
        const page = await open(1);
        return page.includes('Redis does not answer') ? page : undefined;
      }, 'the page to notice');
      expect(html).not.toContain('?replica=');
      expect(html).toContain('Without Redis');
    } finally {
      proxy.restore();
    }
    await waitFor(async () => (await statusesOf(1).all()).others !== undefined, 'Redis to be back');
  });

  it('removes a replica that has stopped, and one that was killed', async () => {
    await statusesOf(1).publish();
    await statusesOf(1).beforeApplicationShutdown();
    expect((await statusesOf(0).all()).others).toEqual([]);
    await redis?.client.hSet('chat:status', 'killed', `1 ${JSON.stringify({ id: 'killed', snapshot: {} })}`);
    expect((await statusesOf(0).all()).others).toEqual([]);
    expect(await redis?.client.hExists('chat:status', 'killed')).toBeFalsy();
    expect(await redis?.client.pTTL('chat:status')).toBeGreaterThan(0);
  });

  it('leaves out a replica of a version with another format', async () => {
    await redis?.client.zAdd('chat:replicas', { value: 'newer', score: Date.now() });
    await redis?.client.hSet('chat:status', 'newer', '3 {"other":true}');
    expect((await statusesOf(0).all()).others).toEqual([]);
    expect(await open(0)).toContain('<h1>Status</h1>');
  });
});
