import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, describe, it } from 'vitest';
import type { RedisClient } from '../../src/platform/redis/redis-client.js';
import { ADMIT, RENEW, SETTLE, WITHDRAW } from '../../src/throttling/redis/account-scripts.js';
import { testRedis } from '../support/redis.js';
import { LimitWorld } from './support/limit-world.js';
import { LIMIT_MS, replicaOf, simulate, stepsOn, usualSteps } from './support/schedules.js';
import { connectedClient, giveTime } from './support/simulated-redis.js';
import { useVirtualTime } from './support/virtual-world.js';

const redis = await testRedis();
const client = redis && (await connectedClient(redis.url));
const REPLICAS = 3;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const any = replicaOf(REPLICAS);
const step = stepsOn<LimitWorld>();
const usual = usualSteps<LimitWorld>(REPLICAS, [1, 20, 300, 1_100, 9_000, 31_000], [300, 2_000, 12_000]);
const admit = step('admit', any, (world, number) => world.admit(number));
const end = step('end', fc.tuple(any, fc.nat({ max: 3 })), (world, [number, index]) => world.end(number, index));
const empty = step('empty', fc.constant(0), (world) => world.empty());

describe('the limits of an account', () => {
  const virtual = useVirtualTime();

  afterAll(async () => {
    client?.disconnect();
    await redis?.drop();
  });

  it.skipIf(redis === undefined)(
    'on three replicas and Redis keep every invariant',
    async () => {
      giveTime([ADMIT, RENEW, SETTLE, WITHDRAW]);
      const flush = async (): Promise<void> => redis?.flush();
      const { pass, link, stop, kill } = usual;
      const often = [admit, admit, admit, admit, end, end, pass, pass, link, stop];
      await simulate({
        time: virtual.time,
        // What is lost with a killed replica, or with the data of Redis, hides other mistakes.
        steps: [...often, ...often, kill, empty],
        share: 0.5,
        worldOf: async (random) => {
          // At midnight, tokens that are used before are not counted any more.
          const untilMidnight = DAY_MS - (virtual.time.nowMs % DAY_MS);
          if (untilMidnight < HOUR_MS) await virtual.time.pass(untilMidnight);
          return new LimitWorld(virtual.time, randomUUID(), random, client as RedisClient, flush, REPLICAS);
        },
      });
    },
    LIMIT_MS,
  );
});
