import { afterAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../support/seeded-random.js';
import { Clients, type Account } from './support/random-faults/clients.js';
import { RandomFaults } from './support/random-faults/faults.js';
import { Fleet } from './support/random-faults/fleet.js';
import { countBy, Judge } from './support/random-faults/judge.js';
import { Answers } from './support/random-faults/question.js';
import { Requests } from './support/random-faults/requests.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
/** `FAULT_SEEDS=12,13` repeats runs, and `FAULT_RUNS=60` makes so many with new seeds. */
const RUNS = Number(process.env['FAULT_RUNS'] ?? 1);
const SEEDS =
  process.env['FAULT_SEEDS']?.split(',').map(Number) ??
  Array.from({ length: RUNS }, () => Math.floor(Math.random() * 1e9));
const FAULTS_MS = 30_000;
const LIMIT_MS = 420_000;

const SLOTS = 6;
/** Some 30 answers. Each reserves 0.2. */
const BUDGET = 4;
const BUDGET_CHECK_MS = 300;
const TIERS = {
  free: {},
  slots: { concurrent_streams: SLOTS },
  money: { budget: { amount: BUDGET, per: 'month' } },
};

describe.skipIf(stores === undefined)('three replicas with random clients and random faults', () => {
  afterAll(() => stores?.redis.drop());

  it.each(SEEDS)(
    // Each run has another seed, but its name stays, so that reports of two runs can be compared.
    'keep every invariant (run %#)',
    async (seed) => {
      console.info(`seed ${seed}`);
      const random = new SeededRandom(seed);
      const flushes = random.chance(0.3);
      const shared = stores as NonNullable<typeof stores>;
      await shared.redis.flush();
      const replicas = await Replicas.start(shared, {
        count: 0,
        tiers: TIERS,
        price: { input_per_million: 20, output_per_million: 40 },
        timeouts: { first_token_ms: 6_000, idle_ms: 3_000 },
      });
      const answers = new Answers();
      replicas.provider.closesConnections().answers(answers.script);
      const fleet = await Fleet.start(replicas, shared);
      try {
        await run({ fleet, replicas, answers, random, flushes });
      } catch (error) {
        throw new Error(`seed ${seed}: ${String(error)}`, { cause: error });
      } finally {
        await fleet.stop();
      }
    },
    LIMIT_MS,
  );
});

interface Run {
  readonly fleet: Fleet;
  readonly replicas: Replicas;
  readonly answers: Answers;
  readonly random: SeededRandom;
  readonly flushes: boolean;
}

async function run({ fleet, replicas, answers, random, flushes }: Run): Promise<void> {
  const [free, slots, money]: Account[] = [
    await replicas.createKey('free'),
    await replicas.createKey('slots'),
    await replicas.createKey('money'),
  ];
  if (free === undefined || slots === undefined || money === undefined) throw new Error('There are no accounts.');
  const until = performance.now() + FAULTS_MS;
  const requests = new Requests(fleet);
  const clients = new Clients(requests, replicas, until);
  const faults = new RandomFaults(fleet, random.fork(), flushes);
  const judge = new Judge(fleet, answers);
  const many = (count: number, start: () => Promise<void>): Promise<void>[] => Array.from({ length: count }, start);
  const watched = (async () => {
    while (performance.now() < until) {
      await judge.checkBudget(money, BUDGET);
      await new Promise((resolve) => setTimeout(resolve, BUDGET_CHECK_MS));
    }
  })();

  const outcomes = await Promise.allSettled([
    watched,
    faults.run(until),
    ...many(6, () => clients.plain(random.fork(), free, 'plain')),
    ...many(2 * SLOTS, () => clients.plain(random.fork(), slots, 'slots')),
    ...many(5, () => clients.plain(random.fork(), money, 'money')),
    ...many(6, () => clients.durable(random.fork(), free)),
    ...many(4, () => clients.durableWhole(random.fork(), free)),
    ...many(2, () => clients.revoked(random.fork(), free)),
  ]);
  await Promise.all(fleet.members.map((member) => fleet.startIn(member)));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  expect(fleet.violations).toEqual([]);
  judge.checkSlots('slots', SLOTS, requests.all);
  await judge.checkRest();
  await judge.checkBudget(money, BUDGET);
  await judge.checkRecords(requests.all);
  await judge.checkStreams(clients.ends, flushes, requests.all);
  judge.checkOutput();
  expect(fleet.violations).toEqual([]);
  const statuses = [...countBy(requests.all, ({ status }) => String(status))].map(
    ([status, sent]) => `${status}: ${sent}`,
  );
  console.info(
    `${requests.all.length} requests (${statuses.join(', ')}), ${clients.ends.length} ends, ${faults.count} faults, ${clients.revocations} revocations without a fault`,
  );
}
