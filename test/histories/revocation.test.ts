import fc from 'fast-check';
import { afterEach, beforeEach, describe, it } from 'vitest';
import { ACCOUNTS, CREDENTIALS, type Credential } from './support/credentials.js';
import { RevocationWorld } from './support/revocation-world.js';
import { LIMIT_MS, replicaOf, simulate, stepsOn, usualSteps } from './support/schedules.js';
import { SimulatedProbe } from './support/simulated-probe.js';
import { useVirtualWorld } from './support/virtual-world.js';

const REPLICAS = 3;

const any = replicaOf(REPLICAS);
const credential = fc.nat({ max: CREDENTIALS.length - 1 });
const credentialAt = (index: number): Credential => CREDENTIALS[index] as Credential;
const account = fc.constantFrom(...ACCOUNTS);
const step = stepsOn<RevocationWorld>();
const usual = usualSteps<RevocationWorld>(REPLICAS, [1, 20, 300, 600, 1_100, 2_500, 9_000], [300, 1_200, 4_000]);
/** How many requests with each credential, and the time between them. */
const requests = fc.constantFrom([1, 0], [30, 90], [30, 300], [10, 1_000]);
const use = step('use', fc.tuple(any, requests), (world, [number, [count, everyMs]]) =>
  world.use(number, count as number, everyMs as number),
);
const openStream = step('openStream', fc.tuple(any, credential), (world, [number, index]) =>
  world.act(number, (replica) => world.stream(replica, credentialAt(index))),
);
const leave = step('leave', fc.nat({ max: 9 }), (world, index) => world.leave(index));
const end = step('end', fc.tuple(any, credential), (world, [number, index]) =>
  world.act(number, (replica) => replica.end(credentialAt(index))),
);
const disable = step('disable', fc.tuple(any, account), (world, [number, id]) =>
  world.act(number, ({ states }) => states.disable(id)),
);
const enable = step('enable', fc.tuple(any, account), (world, [number, id]) =>
  world.act(number, ({ states }) => states.enable(id)),
);
const slow = step('slow', fc.tuple(any, fc.constantFrom(0, 0, 300, 900, 3_000)), (world, [number, ms]) => {
  world.slow(number, ms);
});
const fail = step('fail', fc.tuple(any, fc.constantFrom(0, 0, 0.3, 1)), (world, [number, chance]) => {
  world.fail(number, chance);
});
const crowd = step('crowd', fc.constant(0), (world) => {
  world.crowd();
});
const restart = step('restart', any, (world, number) => world.restart(number));

describe('revocation', () => {
  const virtual = useVirtualWorld();

  beforeEach(() => {
    SimulatedProbe.install();
  });
  afterEach(() => {
    SimulatedProbe.restore();
  });

  it(
    'on three replicas keeps every invariant',
    async () => {
      const { pass, link, stop } = usual;
      const often = [use, use, use, openStream, openStream, end, end, pass, pass, pass, link, link, slow, fail, stop];
      await simulate({
        time: virtual.time,
        // The crowd makes each round of each replica read a lot.
        steps: [...often, ...often, leave, leave, disable, disable, enable, enable, restart, restart, crowd],
        worldOf: async (random) => {
          virtual.shared.begin(virtual.time);
          const world = new RevocationWorld(virtual.time, virtual.shared, random);
          await world.start(REPLICAS);
          return world;
        },
      });
    },
    LIMIT_MS,
  );
});
