import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RedisScript } from '../../../src/platform/redis/redis-script.js';
import type { TierLimits } from '../../../src/platform/config/limits/limit-table.js';
import type { Admission, Lease } from '../../../src/throttling/limit-store.js';
import { limitsOf } from '../../../src/throttling/account-limits.js';
import type { TokensUsed } from '../../../src/throttling/tokens/tokens-used.js';
import { testRedis } from '../../support/redis.js';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { waitFor } from '../../support/wait-for.js';
import { openOnRedis, type OpenedStore } from './limit-stores.js';

const HOURS_MS = 3_600_000;
/** Far above what is measured on an idle machine, far below one timeout for each request. */
const NOT_HANGING_MS = 10_000;

function holdEventLoop(forMs: number): void {
  const until = performance.now() + forMs;
  while (performance.now() < until);
}

const redis = await testRedis();

describe.skipIf(redis === undefined)('the limits counted in Redis', () => {
  const opened: OpenedStore[] = [];
  let proxy: TcpProxy;
  let accountId: string;

  beforeEach(async () => {
    proxy = await TcpProxy.start(redis?.port ?? 0);
    accountId = randomUUID();
    await redis?.client.del('chat:replicas');
  });
  afterEach(async () => {
    vi.useRealTimers();
    proxy.restore();
    await Promise.all(opened.splice(0).map((one) => one.close()));
    await proxy.stop();
  });
  afterAll(() => redis?.drop());

  const open = async (tokensUsed?: TokensUsed): Promise<OpenedStore> => {
    const one = await openOnRedis(`redis://127.0.0.1:${proxy.port}/${redis?.database ?? 0}`, tokensUsed);
    opened.push(one);
    return one;
  };
  const openDirectly = async (): Promise<OpenedStore> => {
    const one = await openOnRedis(redis?.url ?? '');
    opened.push(one);
    return one;
  };
  const admit = ({ store }: OpenedStore, limits: TierLimits, tokens = 0): Promise<Admission> =>
    store.admit({ accountId, limits: limitsOf(limits), tokens: { atLeast: tokens, atMost: tokens } });
  const admitMany = (one: OpenedStore, count: number, limits: TierLimits, tokens = 0) =>
    Promise.all(Array.from({ length: count }, () => admit(one, limits, tokens)));
  const leasesOf = (admissions: readonly Admission[]): Lease[] =>
    admissions.flatMap((admission) => (admission.admitted ? [admission.lease] : []));
  const slotsIn = async (): Promise<number> => (await redis?.client.zCard(`chat:{${accountId}}:streams`)) ?? -1;
  const isUnavailable = (one: OpenedStore) => waitFor(() => one.isRedisUnavailable(), 'Redis to be away');
  const isBack = (one: OpenedStore) => waitFor(() => !one.isRedisUnavailable(), 'Redis to be back');
  /** As if the owner had been dead for longer than a lease lives. */
  const letLeasesDie = async () => {
    for (const kind of ['streams', 'tokens']) {
      const key = `chat:{${accountId}}:${kind}`;
      for (const value of (await redis?.client.zRange(key, 0, -1)) ?? [])
        await redis?.client.zAdd(key, { score: 1, value });
    }
  };

  it('come back from a process that died, tokens and all, without anybody’s sweep', async () => {
    const one = await open();
    const limits = { concurrentStreams: 2, tokensPerDay: 100 };
    await admitMany(one, 2, limits, 40);
    expect(await admit(one, limits, 1)).toMatchObject({ refusedBy: 'concurrentStreams' });

    await letLeasesDie();

    expect(await one.store.peek(accountId, limitsOf(limits))).toMatchObject({
      concurrentStreams: { remaining: 2 },
      tokensPerDay: { remaining: 100 },
    });
    expect((await admit(one, limits, 100)).admitted).toBe(true);
  });

  it('are sent to Redis again when Redis has lost its data or has dropped the leases as expired', async () => {
    const one = await open({ since: () => Promise.resolve(30) });
    const limits = { concurrentStreams: 3, tokensPerDay: 200 };
    const [first] = leasesOf(await admitMany(one, 2, limits, 40));
    await redis?.client.del([`chat:{${accountId}}:use`, `chat:{${accountId}}:streams`, `chat:{${accountId}}:tokens`]);

    proxy.cut();
    await isUnavailable(one);
    proxy.restore();

    await waitFor(async () => (await slotsIn()) === 2, 'both slots to be taken again');
    expect(await one.store.peek(accountId, limitsOf(limits))).toMatchObject({
      concurrentStreams: { remaining: 1 },
      tokensPerDay: { remaining: 90 },
    });
    first?.settle(10);
    first?.release();
    expect(await one.store.peek(accountId, limitsOf(limits))).toMatchObject({
      concurrentStreams: { remaining: 2 },
      tokensPerDay: { remaining: 120 },
    });
  });

  it('do not depend on the clock of any replica', async () => {
    const [right, wrong] = [await open(), await open()];
    const limits = { requestsPerMinute: 4, concurrentStreams: 9, tokensPerDay: 100 };
    await admitMany(right, 2, limits, 20);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 30 * HOURS_MS });
    const ahead = await admitMany(wrong, 2, limits, 20);
    vi.setSystemTime(Date.now() - 60 * HOURS_MS);

    expect(leasesOf(ahead)).toHaveLength(2);
    expect(await admit(wrong, limits)).toMatchObject({ refusedBy: 'requestsPerMinute' });
    expect(await admit(right, { tokensPerDay: 100 }, 21)).toMatchObject({ refusedBy: 'tokensPerDay' });
    const { tokensPerDay } = await wrong.store.peek(accountId, limitsOf(limits));
    const seconds = Number((await redis?.client.time())?.[0]);
    expect(Math.abs((tokensPerDay?.resetSeconds ?? 0) - (86_400 - (seconds % 86_400)))).toBeLessThan(10);
  });

  it.each(['cut', 'stall'] as const)(
    'are each replica’s share while Redis is unavailable (%s), and whole when Redis is available again',
    async (how) => {
      const [one, other] = [await open(), await openDirectly()];
      const limits = { requestsPerMinute: 9, concurrentStreams: 7 };
      await waitFor(() => one.fallback.replicas === 2, 'both to be counted');
      const before = leasesOf(await admitMany(one, 2, limits));

      proxy[how]();
      const started = performance.now();
      const during = await admitMany(one, 8, limits);
      expect(performance.now() - started).toBeLessThan(NOT_HANGING_MS);
      await isUnavailable(one);
      during.push(...(await admitMany(one, 8, limits)));

      // 4 of 7 streams, of which 2 run already.
      expect(leasesOf(during)).toHaveLength(2);
      expect(during.at(-1)).toMatchObject({ refusedBy: 'concurrentStreams' });
      expect(one.fallback.admissions).toBe(2);
      const away = performance.now();
      await admitMany(one, 50, limits);
      expect(performance.now() - away).toBeLessThan(NOT_HANGING_MS);
      leasesOf(during)[0]?.release();
      before[0]?.release();

      proxy.restore();
      await isBack(one);
      await waitFor(async () => (await slotsIn()) === 2, 'Redis to know what runs');
      expect(await other.store.peek(accountId, limitsOf(limits))).toMatchObject({
        concurrentStreams: { remaining: 5 },
      });
    },
  );

  it('stay exact while the process is too busy to read replies, as Redis is available then', async () => {
    const [one, other] = [await open(), await openDirectly()];
    const limits = { requestsPerMinute: 9 };
    await waitFor(() => one.fallback.replicas === 2, 'both to be counted');
    const admissions: Admission[] = [];
    for (let block = 0; block < 3; block++) {
      const pending = admitMany(one, 8, limits);
      holdEventLoop(2000);
      admissions.push(...(await pending));
    }

    expect(leasesOf(admissions)).toHaveLength(9);
    expect(one.isRedisUnavailable()).toBe(false);
    expect(one.fallback.admissions).toBe(0);
    expect(await admit(other, limits)).toMatchObject({ refusedBy: 'requestsPerMinute' });
  });

  it('refuse as unavailable while Redis does not reply in time but replies to others, and count nothing for the refusal', async () => {
    const [one, other] = [await open(), await openDirectly()];
    const limits = { requestsPerMinute: 9, concurrentStreams: 3 };
    const late = vi.spyOn(RedisScript.prototype, 'run').mockImplementationOnce(async function (
      this: RedisScript,
      ...all
    ) {
      const answer = await this.run(...all);
      await new Promise((resolve) => setTimeout(resolve, 1500));
      return answer;
    });
    const refused = admit(one, limits);
    late.mockRestore();
    // Redis answers everything else meanwhile.
    const others = setInterval(() => void one.store.peek(accountId, limitsOf(limits)), 50);

    await expect(refused).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
    clearInterval(others);

    expect(one.isRedisUnavailable()).toBe(false);
    expect(one.fallback.admissions).toBe(0);
    await waitFor(async () => {
      const { requestsPerMinute: requests, concurrentStreams: streams } = await other.store.peek(
        accountId,
        limitsOf(limits),
      );
      return requests?.remaining === 8 && streams?.remaining === 3;
    }, 'the slot to be released');
  });

  it('count the tokens that were used while Redis was unavailable, once Redis is available again', async () => {
    const one = await open();
    const limits = { tokensPerDay: 100 };
    const [before] = leasesOf([await admit(one, limits, 20)]);
    proxy.cut();
    await isUnavailable(one);
    const [during, running] = leasesOf(await admitMany(one, 2, limits, 10));
    before?.settle(25);
    during?.settle(12);

    proxy.restore();
    await isBack(one);

    await waitFor(
      async () => (await one.store.peek(accountId, limitsOf(limits))).tokensPerDay?.remaining === 100 - 25 - 12 - 10,
      'all to be counted',
    );
    running?.settle(0);
    expect(await one.store.peek(accountId, limitsOf(limits))).toMatchObject({ tokensPerDay: { remaining: 63 } });
  });

  it('hold in a process that starts while Redis is unavailable, and are shared once Redis is available', async () => {
    proxy.cut();
    const one = await open();
    expect(one.isRedisUnavailable()).toBe(true);
    expect(leasesOf(await admitMany(one, 5, { concurrentStreams: 3 }))).toHaveLength(3);

    proxy.restore();
    await isBack(one);
    await waitFor(async () => (await slotsIn()) === 3, 'Redis to know what runs');
  });
});
