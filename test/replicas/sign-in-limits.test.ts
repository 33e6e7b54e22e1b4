import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testEngines, type TestDatabase } from '../support/database.js';
import { testRedis } from '../support/redis.js';
import { startService, type RunningService } from '../support/service.js';
import { SignInPagesModule } from '../support/sign-in-pages.js';
import { WebClient } from '../support/web-client.js';

const WRONG = 'wrong horse battery';
const ADA = 'ada@example.com';
const HOME = '198.51.100.7';
const redis = await testRedis();
const postgres = (await testEngines()).find(({ name }) => name === 'PostgreSQL');

/** One replica after another, as strategies are global in a process: what the one counted, the next one knows. */
describe.skipIf(redis === undefined || postgres === undefined)('the limits of signing in, with REDIS_URL', () => {
  let database: TestDatabase | undefined;
  let replica: RunningService | undefined;

  beforeAll(async () => {
    database = await postgres?.create();
    await nextReplica();
    await from(HOME).signUp(ADA);
  });
  afterEach(() => nextReplica());
  afterAll(async () => {
    await replica?.stop();
    await database?.drop();
    await redis?.drop();
  });

  const from = (address: string) => new WebClient(replica?.origin ?? '', { 'x-forwarded-for': address });
  async function nextReplica(): Promise<void> {
    await replica?.stop();
    const config = database?.config;
    const url = config?.type === 'postgres' ? config.url : '';
    const env = { TRUST_PROXY: '1', DATABASE_URL: url, REDIS_URL: redis?.url ?? '' };
    replica = await startService({ modules: [SignInPagesModule], env });
  }
  const guess = async (times: number, addressOf: (n: number) => string) => {
    const statuses: number[] = [];
    for (let n = 0; n < times; n++) statuses.push((await from(addressOf(n)).signIn(ADA, WRONG)).status);
    return statuses.filter((status) => status === 401).length;
  };

  it('count the attempts at all replicas together', async () => {
    expect(await guess(6, () => '192.0.2.1')).toBe(6);
    await nextReplica();
    expect(await guess(6, () => '192.0.2.1')).toBe(4);
    expect((await from('192.0.2.1').signIn(ADA)).status).toBe(429);
  });

  it('let an owner in at home, whichever replica knows that home', async () => {
    expect((await from(HOME).signIn(ADA)).status).toBe(303);
    await nextReplica();
    expect(await guess(110, (n) => `203.0.113.${n}`)).toBeLessThanOrEqual(100);
    expect((await from('192.0.2.99').signIn(ADA)).status).toBe(429);
    expect((await from(HOME).signIn(ADA)).status).toBe(303);
  });

  it('keep no address of a person or a network in Redis', async () => {
    const keys = (await redis?.client.keys('chat:sign-*')) ?? [];
    expect(keys.length).toBeGreaterThan(0);
    for (const key of keys) expect(key).toMatch(/^chat:sign-(in|up):\w+:\{[\w-]{22}(:[\w-]{22})?\}$/);
  });
});
