import { ConsoleLogger, Logger } from '@nestjs/common';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from 'vitest';
import { DeliveryWorld, type ReceiverState } from './support/delivery-world.js';
import { LIMIT_MS, replicaOf, simulate, stepsOn, usualSteps } from './support/schedules.js';
import { SharedDatabase } from './support/simulated-database.js';
import { VirtualTime } from './support/virtual-time.js';

const REPLICAS = 2;

const step = stepsOn<DeliveryWorld>();
const usual = usualSteps<DeliveryWorld>(REPLICAS, [1, 20, 300, 1_100, 9_000, 31_000], [300, 2_000, 9_000]);
const record = step('record', fc.constantFrom(1, 1, 3, 120), (world, count) => world.record(count));
const correct = step('correct', fc.nat({ max: 200 }), (world, index) => world.correct(index));
const publish = step(
  'publish',
  fc.tuple(replicaOf(REPLICAS), fc.constantFrom('a', 'b', 'c')),
  (world, [number, subject]) => world.publish(number, subject),
);
const receiver = step(
  'receiver',
  fc.constantFrom<ReceiverState>('up', 'up', 'refuses', 'deaf', 'silent'),
  (world, state) => (world.receiver = state),
);

describe('the delivery of records and events', () => {
  let time: VirtualTime;
  let shared: SharedDatabase;

  beforeAll(async () => {
    Logger.overrideLogger(false);
    shared = await SharedDatabase.open();
  });
  beforeEach(() => {
    time = new VirtualTime();
    time.install();
  });
  afterEach(() => {
    time.restore();
  });
  afterAll(async () => {
    Logger.overrideLogger(new ConsoleLogger());
    await shared.close();
  });

  it(
    'by two replicas keeps every invariant',
    async () => {
      const { pass, link, stop, kill, shutDown } = usual;
      await simulate({
        time,
        steps: [
          record,
          record,
          correct,
          publish,
          publish,
          receiver,
          pass,
          pass,
          pass,
          link,
          link,
          stop,
          kill,
          shutDown,
        ],
        maxSteps: 25,
        worldOf: async (random) => {
          shared.begin(time);
          const world = new DeliveryWorld(time, shared, random);
          await world.start(REPLICAS);
          return world;
        },
      });
    },
    LIMIT_MS,
  );
});
