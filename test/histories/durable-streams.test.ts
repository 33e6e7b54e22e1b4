import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { CLAIM, FORGET, READ, WRITE } from '../../src/plugins/durable/store/redis/stream-scripts.js';
import type { RedisClient } from '../../src/platform/redis/redis-client.js';
import { hold } from '../support/invariants.js';
import { testRedis } from '../support/redis.js';
import { SeededRandom } from '../support/seeded-random.js';
import { Link, type LinkState } from './support/link.js';
import { LIMIT_MS, replicaOf, simulate, stepsOn, usualSteps } from './support/schedules.js';
import type { AnswerPlan } from './support/simulated-answer.js';
import { connectedClient, giveTime, SimulatedRedis } from './support/simulated-redis.js';
import { StreamReplica } from './support/stream-replica.js';
import { StreamWorld } from './support/stream-world.js';
import { useVirtualTime } from './support/virtual-world.js';

const redis = await testRedis();
const client = redis && (await connectedClient(redis.url));
const REPLICAS = 3;
const SCRIPTS = [CLAIM, FORGET, READ, WRITE];
/** The contract. */
const HEAD_WITHIN_MS = 30_000;

const CONNECTED_WITHIN_MS = 501;
const WRITTEN_WITHIN_MS = 4_000;
const BEGUN_WITHIN_MS = 700;
const LONG_ANSWER: AnswerPlan = { firstMs: 0, pieces: 8, pieceMs: 1_500, end: 'done' };
const AT_ONCE: AnswerPlan = { firstMs: 0, pieces: 1, pieceMs: 0, end: 'done' };

const any = replicaOf(REPLICAS);
const step = stepsOn<StreamWorld>();
const usual = usualSteps<StreamWorld>(
  REPLICAS,
  [1, 10, 50, 300, 1_100, 4_000, 6_000, 11_000],
  [500, 3_000, 5_500, 15_000],
);
const plan: fc.Arbitrary<AnswerPlan> = fc.record({
  firstMs: fc.constantFrom(0, 10, 1_000, 4_500, 12_000, 40_000),
  pieces: fc.integer({ min: 1, max: 8 }),
  pieceMs: fc.constantFrom(0, 20, 60, 1_500, 5_000),
  end: fc.constantFrom('done', 'done', 'done', 'broken', 'refused'),
});
const ask = step(
  'ask',
  fc.tuple(any, fc.constantFrom('a', 'b'), plan, fc.boolean(), fc.constantFrom(false, false, false, true)),
  (world, wanted) => world.ask(...wanted),
);
const leave = step('leave', fc.nat({ max: 9 }), (world, index) => world.leave(index));
const cancel = step('cancel', fc.tuple(any, fc.nat({ max: 9 })), (world, [number, index]) =>
  world.cancel(number, index),
);
const follow = step('follow', fc.tuple(any, fc.nat({ max: 9 })), (world, [number, index]) =>
  world.follow(number, index),
);
const away = fc.constantFrom<LinkState>('cut', 'stalled', 'deaf');
/** A replica that generates an answer. */
const owner = fc.nat({ max: 3 });
/** About as long as a claim lasts without a renewal, so that others end the stream while its owner has an ending for it. */
const outage = step(
  'outage',
  fc.tuple(owner, away, fc.constantFrom(4_500, 5_500, 7_000, 9_000)),
  (world, [index, state, ms]) => lose(world, world.ownerAt(index), state, ms),
);
/** From the end of an answer on, for as long as its ending waits for Redis: a little, 10 s, or 30 s if Redis may have it. */
const outageAtEnd = step(
  'outageAtEnd',
  fc.tuple(owner, away, fc.constantFrom(300, 5_500, 11_500, 33_000)),
  async (world, [index, state, ms]) => {
    const number = world.ownerAt(index);
    await world.readElsewhere(number);
    await world.untilEnd(number);
    await lose(world, number, state, ms);
  },
);

const empty = step('empty', fc.constant(0), (world) => world.empty());
/**
 * Redis restarts without its data while an answer is generated. The replicas write their streams again, before anyone else can have
 * the keys.
 */
const restarts = fc.tuple(any, fc.constantFrom(20, 600, 3_500, 9_000));
const restart = step('restart', restarts, async (world, [asked, ms]) => {
  await world.ask(asked, 'c', LONG_ANSWER);
  await world.time.pass(BEGUN_WITHIN_MS);
  const begun = world.begun();
  for (const number of world.replicas.keys()) await world.link(number, 'cut');
  await world.empty();
  await world.time.pass(ms);
  for (const number of world.replicas.keys()) await world.link(number, 'up');
  await world.time.pass(CONNECTED_WITHIN_MS);
  for (const { key } of begun) for (const number of world.replicas.keys()) await world.ask(number, key, AT_ONCE);
  await world.time.pass(WRITTEN_WITHIN_MS);
  for (const { key, end } of begun) hold('one call a key', end !== 'interrupted', () => `the stream of ${key} is lost`);
});

async function lose(world: StreamWorld, number: number, state: LinkState, ms: number): Promise<void> {
  await world.link(number, state);
  await world.time.pass(ms);
  await world.link(number, 'up');
}

describe('durable streams', () => {
  const virtual = useVirtualTime();

  afterAll(async () => {
    client?.disconnect();
    await redis?.drop();
  });

  const onRedis = (random: SeededRandom): StreamWorld => {
    const replicas = Array.from({ length: REPLICAS }, () => {
      return new StreamReplica(
        (owner) => new SimulatedRedis(virtual.time, new Link(virtual.time, owner, random), client as RedisClient),
      );
    });
    return new StreamWorld(virtual.time, replicas, async () => redis?.flush());
  };
  const inMemory = (): StreamWorld => new StreamWorld(virtual.time, [new StreamReplica()]);

  const waitsInVain = async (world: StreamWorld): Promise<void> => {
    await world.claimOnly(0, 'a');
    await virtual.time.pass(1_000);
    await world.ask(world.replicas.length - 1, 'a', AT_ONCE);
    await virtual.time.pass(60_000);
    const [asked] = world.clients;
    expect(asked?.end).toBe('unavailable');
    expect((asked?.overAtMs ?? 0) - (asked?.askedAtMs ?? 0)).toBeGreaterThan(HEAD_WITHIN_MS - 2_000);
    expect((asked?.overAtMs ?? Infinity) - (asked?.askedAtMs ?? 0)).toBeLessThan(HEAD_WITHIN_MS + 2_000);
  };

  it('in memory lets a request wait 30 s at most for another one with its key', () => waitsInVain(inMemory()));

  it.skipIf(redis === undefined)('in Redis let a request wait 30 s at most for another one with its key', async () => {
    giveTime(SCRIPTS);
    await waitsInVain(onRedis(new SeededRandom(1)));
  });

  it.skipIf(redis === undefined)(
    'of three replicas on Redis keep every invariant',
    async () => {
      giveTime(SCRIPTS);
      const { pass, link, stop, kill, shutDown } = usual;
      const often = [ask, ask, ask, pass, pass, pass, link, link, outage, outage, outageAtEnd, outageAtEnd, stop, stop];
      await simulate({
        time: virtual.time,
        steps: [...often, follow, leave, cancel, kill, shutDown, empty, restart],
        worldOf: onRedis,
      });
    },
    LIMIT_MS,
  );

  it(
    'in the memory of one process keep every invariant',
    () => simulate({ time: virtual.time, steps: [ask, ask, usual.pass, follow, leave, cancel], worldOf: inMemory }),
    LIMIT_MS,
  );
});
