import fc from 'fast-check';
import { describe, it } from 'vitest';
import { DeliveryWorld, type ReceiverState } from './support/delivery-world.js';
import { LIMIT_MS, replicaOf, simulate, stepsOn, usualSteps } from './support/schedules.js';
import { useVirtualWorld } from './support/virtual-world.js';

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
  const virtual = useVirtualWorld();

  it(
    'by two replicas keeps every invariant',
    async () => {
      const { pass, link, stop, kill, shutDown } = usual;
      await simulate({
        time: virtual.time,
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
          virtual.shared.begin(virtual.time);
          const world = new DeliveryWorld(virtual.time, virtual.shared, random);
          await world.start(REPLICAS);
          return world;
        },
      });
    },
    LIMIT_MS,
  );
});
