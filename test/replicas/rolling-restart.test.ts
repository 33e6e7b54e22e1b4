import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RoundRobinProxy } from '../support/round-robin.js';
import { waitFor } from '../support/wait-for.js';
import { outcomesOf } from './support/ledger.js';
import { Replicas, type Replica } from './support/replicas.js';
import { sharedStores } from './support/stores.js';
import { pacedAnswer, Talker } from './support/talker.js';

const stores = await sharedStores();

const TALKERS = 16;
/** Between the moment at which a replica is to go and SIGTERM, as `preStop` of the Deployment has it, only shorter. */
const PRE_STOP_MS = 1_500;
/** In which the proxy hears of that. */
const PROPAGATION_MS = 500;
const START_LIMIT_MS = 90_000;

describe.skipIf(stores === undefined)('a rolling restart of replicas on PostgreSQL and Redis under load', () => {
  let replicas: Replicas;
  let proxy: RoundRobinProxy;

  beforeAll(async () => {
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, {
      tiers: { free: { requests_per_minute: 100_000, concurrent_streams: 2 * TALKERS } },
    });
    replicas.provider.answers(pacedAnswer);
    proxy = await RoundRobinProxy.start();
    for (const origin of replicas.origins) proxy.add(origin);
    await waitFor(() => proxy.ready.length === 3, 'all to be ready');
  }, 180_000);
  afterAll(async () => {
    await proxy.stop();
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  /** As the Deployment does it: the new one is ready before the old one goes. */
  async function replace(old: Replica): Promise<number | null> {
    const { origin } = await replicas.add();
    proxy.add(origin);
    await waitFor(() => proxy.ready.includes(origin), 'the new one to be ready', START_LIMIT_MS);
    // Kubernetes tells the proxies and runs preStop at the same moment.
    const preStop = sleep(PRE_STOP_MS);
    await sleep(PROPAGATION_MS);
    proxy.retire(old.origin);
    await preStop;
    old.process.signal('SIGTERM');
    const { code } = await old.process.exited;
    replicas.remove(old);
    return code;
  }

  it('loses, cuts and doubles no stream, and answers no request with a failure', async () => {
    const { key, accountId } = await replicas.createKey();
    const talkers = Array.from({ length: TALKERS }, (_, index) => new Talker(`t${index}`, proxy.origin, key));
    const before = [...replicas.all];

    const codes: (number | null)[] = [];
    for (const old of before) codes.push(await replace(old));
    await Promise.all(talkers.map((talker) => talker.stop()));

    expect(talkers.flatMap(({ faults }) => faults)).toEqual([]);
    expect(codes).toEqual([0, 0, 0]);
    expect(proxy.failures).toEqual([]);
    expect(replicas.all.some((replica) => before.includes(replica))).toBe(false);
    const complete = talkers.reduce((sum, talker) => sum + talker.complete, 0);
    expect(complete).toBeGreaterThan(3 * TALKERS);
    // Each was asked of the provider once, and is written down once.
    expect(replicas.provider.calls).toHaveLength(complete);
    const written = () => outcomesOf(replicas.accounts, accountId);
    await waitFor(async () => (await written())['completed'] === complete, 'the ledger to be complete');
    expect(await written()).toEqual({ completed: complete });
  }, 400_000);
});
