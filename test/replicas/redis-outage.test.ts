import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { get } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { burst, NOT_HANGING_MS } from './support/burst.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

const SEEN_MS = 15_000;

describe.skipIf(stores === undefined)('three replicas on PostgreSQL while Redis is unavailable', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    const tiers = { requests: { requests_per_minute: 9 }, dozen: { requests_per_minute: 12 } };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
  }, 180_000);
  afterEach(() => {
    replicas.redis.restore();
  });
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  const partOf = async (origin: string): Promise<unknown> => {
    const ready = await get(origin, '/api/v1/health/ready');
    expect(ready.status).toBe(200);
    return (JSON.parse(ready.raw) as { parts: { redis: unknown } }).parts.redis;
  };
  const areAll = (state: 'up' | 'down') =>
    waitFor(
      async () => (await Promise.all(replicas.origins.map(partOf))).every((part) => part === state),
      `Redis to be seen ${state}`,
      SEEN_MS,
    );
  const logged = (words: RegExp): number[] =>
    replicas.all.map(({ process }) => process.stdout.split('\n').filter((line) => words.test(line)).length);
  /** A line of the log comes a moment after what it tells of. */
  async function areLogged(words: RegExp, counts: readonly number[]): Promise<void> {
    const areThere = () => logged(words).every((count, index) => count >= (counts[index] ?? 0));
    await waitFor(areThere, `${words.source} in all logs`);
    expect(logged(words)).toEqual(counts);
  }
  /** Each learns how many there are when it says that it lives: every one has to, after the last has come. */
  async function knowEachOther(): Promise<void> {
    const beats = async () => (await stores?.redis.client.zRangeWithScores('chat:replicas', 0, -1)) ?? [];
    await waitFor(async () => (await beats()).length === 3, 'all to come', SEEN_MS);
    const lastCame = Math.max(...(await beats()).map(({ score }) => score));
    await waitFor(
      async () => (await beats()).every(({ score }) => score >= lastCame),
      'the replicas to know each other',
      SEEN_MS,
    );
  }

  it.each(['cut', 'stall'] as const)(
    '(%s) admit their share, never hang, log the outage once, and are exact again by themselves',
    async (how) => {
      replicas.provider.answers((call) => {
        call.answer('Hello');
      });
      await areAll('up');
      await knowEachOther();
      const [away, back] = [logged(/Redis is unavailable/), logged(/Redis is back after/)];
      const whole = await burst(replicas.origins, 8, await replicas.createKey('requests'));
      expect(await whole.outcomes()).toEqual({ admitted: 9, rate_limit_exceeded: 15 });
      const [fresh, counted] = [await replicas.createKey('requests'), await replicas.createKey('requests')];

      replicas.redis[how]();
      const first = await burst(replicas.origins, 1, fresh);
      expect(await first.outcomes()).toEqual({ admitted: 3 });
      expect(first.longestMs).toBeLessThan(NOT_HANGING_MS);
      await areAll('down');

      const shares = await burst(replicas.origins, 8, counted);
      expect(await shares.outcomes()).toEqual({ admitted: 9, rate_limit_exceeded: 15 });
      expect(shares.longestMs).toBeLessThan(NOT_HANGING_MS);
      for (const origin of replicas.origins) {
        expect((await get(origin, '/api/v1/chat/models')).status).toBe(200);
        expect((await get(origin, '/api/v1/health')).status).toBe(200);
      }
      await areLogged(
        /Redis is unavailable/,
        away.map((lines) => lines + 1),
      );

      replicas.redis.restore();
      await areAll('up');
      const exact = await burst(replicas.origins, 8, await replicas.createKey('requests'));
      expect(await exact.outcomes()).toEqual({ admitted: 9, rate_limit_exceeded: 15 });
      await areLogged(
        /Redis is back after/,
        back.map((lines) => lines + 1),
      );
    },
    240_000,
  );

  it('also admit their share if they have started meanwhile, because PostgreSQL knows the others', async () => {
    await areAll('up');
    replicas.redis.cut();
    const added = await replicas.add();
    try {
      const alone = await burst([added.origin], 24, await replicas.createKey('dozen'));
      expect(await alone.outcomes()).toEqual({ admitted: 3, rate_limit_exceeded: 21 });
    } finally {
      replicas.remove(added);
      await added.process.stop();
    }
  });
});
