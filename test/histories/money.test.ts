import fc from 'fast-check';
import { describe, it } from 'vitest';
import { MoneyWorld } from './support/money-world.js';
import { LIMIT_MS, replicaOf, simulate, stepsOn, usualSteps } from './support/schedules.js';
import type { AnswerPlan } from './support/simulated-answer.js';
import { useVirtualWorld } from './support/virtual-world.js';

const REPLICAS = 3;
const BUDGETS_MICROS = [300, 2_000, 60_000, 1_000_000];

const step = stepsOn<MoneyWorld>();
const usual = usualSteps<MoneyWorld>(REPLICAS, [1, 5, 50, 600, 1_100, 4_000, 12_000], [300, 2_000, 9_000]);
const plan: fc.Arbitrary<AnswerPlan> = fc.record({
  firstMs: fc.constantFrom(0, 10, 800, 5_000),
  pieces: fc.integer({ min: 1, max: 4 }),
  pieceMs: fc.constantFrom(0, 20, 700),
  end: fc.constantFrom('done', 'done', 'done', 'broken', 'refused'),
});
const ask = step(
  'ask',
  fc.tuple(
    replicaOf(REPLICAS),
    fc.constantFrom(1, 1, 3, 25),
    fc.constantFrom(0, 10, 60),
    fc.constantFrom(1, 20, 100, 400),
    plan,
  ),
  (world, wanted) => world.ask(...wanted),
);
const killAtCall = step('killAtCall', fc.constant(REPLICAS - 1), (world, number) => world.killAtCall(number));
const leave = step('leave', fc.nat({ max: 30 }), (world, index) => world.leave(index));

describe('budgets and the ledger', () => {
  const virtual = useVirtualWorld();

  it(
    'of three replicas keep every invariant',
    async () => {
      const { pass, link, stop, kill, shutDown } = usual;
      await simulate({
        time: virtual.time,
        steps: [ask, ask, ask, pass, pass, pass, link, link, leave, stop, kill, killAtCall, shutDown],
        maxSteps: 25,
        worldOf: async (random) => {
          virtual.shared.begin(virtual.time);
          const world = new MoneyWorld(virtual.time, virtual.shared, random, random.pick(BUDGETS_MICROS));
          for (let number = 0; number < REPLICAS; number++) await world.add();
          return world;
        },
      });
    },
    LIMIT_MS,
  );
});
