import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DatabaseConfig } from '../../../src/platform/config/config.js';
import { routesTo } from '../../support/catalog.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { testRedis, type TestRedis } from '../../support/redis.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { beginning } from '../../support/scripts.js';
import { startService } from '../../support/service.js';
import { get, openStream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { wireOf } from '../../support/wire.js';

const TIER = { requests_per_minute: 100, concurrent_streams: 2, tokens_per_day: 10_000 };

describe('a service on PostgreSQL and Redis', () => {
  let database: TestDatabase;
  let redis: TestRedis;
  let provider: ScriptedProvider;

  beforeAll(async () => {
    const postgres = (await testEngines()).find(({ name }) => name === 'PostgreSQL');
    const found = await testRedis();
    if (postgres === undefined || found === undefined) throw new Error('PostgreSQL or Redis does not answer.');
    redis = found;
    database = await postgres.createEmpty();
    provider = await ScriptedProvider.start();
  });
  afterAll(async () => {
    await provider.stop();
    await database.drop();
    await redis.drop();
  });

  it('has ended its connections, its timers and its leases when it has stopped', async () => {
    const before = sockets();
    const service = await startService({
      ...routesTo([provider]),
      tiers: { free: TIER },
      env: { DATABASE_URL: urlOf(database.config), REDIS_URL: redis.url, METRICS_PORT: '0' },
    });
    const { key } = await service.createKey();
    expect((await get(service.origin, '/api/v1/health/ready')).status).toBe(200);
    expect(await wireOf(await openStream(service.origin, { key }))).toMatchObject({
      terminal: 'done',
      rest: '',
    });
    provider.next(beginning('Hi'));
    const left = await openStream(service.origin, { key });
    await left.block(1);
    left.leave();
    await service.leftovers.none();

    await service.stop();

    await waitFor(() => sockets() === before, 'the connections to be closed');
    const accounts = await redis.client.keys('chat:*:streams');
    expect(accounts).toEqual([]);
    expect(await redis.client.zCard('chat:replicas')).toBe(0);
  });
});

function urlOf(config: DatabaseConfig): string {
  if (config.type !== 'postgres') throw new Error('This is not PostgreSQL.');
  return config.url;
}

/** Connections that this process has open. */
function sockets(): number {
  return process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length;
}
