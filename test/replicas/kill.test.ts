import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { readWire, wireOf } from '../support/wire.js';
import { burst } from './support/burst.js';
import { outcomesOf } from './support/ledger.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
const WITHIN_A_MINUTE_MS = 60_000;
const PLACES = 6;

describe.skipIf(stores === undefined)('a replica on PostgreSQL and Redis that is killed', () => {
  let replicas: Replicas;

  beforeEach(async () => {
    const tiers = { free: { concurrent_streams: PLACES, tokens_per_day: 1000 } };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
    replicas.provider.answers((call) => {
      call.head().text('On and on');
    });
  }, 180_000);
  afterEach(() => replicas.stop(), 60_000);
  afterAll(() => stores?.redis.drop());

  it('has its slots and tokens released within a minute, and its streams are in the ledger as interrupted', async () => {
    const { key, accountId } = await replicas.createKey();
    const [killed, ...others] = replicas.all;
    if (killed === undefined) throw new Error('There are no replicas.');
    const ask = { key, body: { max_tokens: 94 } };
    const lost = await burst([killed.origin], 4, ask);
    const kept = await burst([others[0]?.origin ?? ''], 2, ask);
    expect([lost, kept].map(({ admitted }) => admitted.length)).toEqual([4, 2]);
    const refused = await stream(others[1]?.origin ?? '', ask);
    expect((await refused.error()).code).toBe('concurrency_limit_exceeded');
    // 2 of a prompt of 6 characters, and 94 asked for.
    expect(refused.headers['x-ratelimit-remaining-tokens']).toBe(String(1000 - 6 * 96));

    killed.process.signal('SIGKILL');
    await killed.process.exited;

    for (const answer of lost.admitted) {
      expect(await answer.over).toBe('cut');
      expect(await wireOf(answer)).toMatchObject({ text: 'On and on', terminal: undefined });
    }
    const places = async (): Promise<number> => {
      const probes = await burst([others[1]?.origin ?? ''], PLACES, ask);
      probes.leave();
      await Promise.all(probes.admitted.map(({ over }) => over));
      return probes.admitted.length;
    };
    // Each lease has an end of its own.
    await waitFor(async () => (await places()) >= 4, 'the places to be free again', WITHIN_A_MINUTE_MS);
    await waitFor(
      async () => (await stores?.redis.client.zCard(`chat:{${accountId}}:streams`)) === 2,
      'the probes to go',
    );
    // Exactly those of the killed one: the others renew theirs.
    expect(await places()).toBe(4);
    for (const { raw } of kept.admitted)
      expect(readWire(raw)).toMatchObject({ text: 'On and on', terminal: undefined });

    const interrupted = async () => (await outcomesOf(replicas.accounts, accountId))['interrupted'];
    await waitFor(async () => (await interrupted()) === 4, 'the ledger to know', WITHIN_A_MINUTE_MS);
    for (const answer of kept.admitted) answer.leave();
    await waitFor(
      async () => ((await outcomesOf(replicas.accounts, accountId))['client_gone'] ?? 0) >= 2,
      'the streams of the others to be written down',
    );
    expect(await interrupted()).toBe(4);

    // Another one takes its place.
    const { origin } = await replicas.add();
    expect((await openStream(origin, ask)).status).toBe(200);
  }, 200_000);
});
