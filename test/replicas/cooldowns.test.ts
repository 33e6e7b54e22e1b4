import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
const COOLDOWN_SECONDS = 120;

describe.skipIf(stores === undefined)('replicas whose provider demands a cooldown', () => {
  let replicas: Replicas;
  let key: string;

  beforeEach(async () => {
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { count: 2 });
    ({ key } = await replicas.createKey());
  }, 180_000);
  afterEach(() => replicas.stop(), 60_000);
  afterAll(() => stores?.redis.drop());

  it('all observe the cooldown, with those that start later, and report the same time', async () => {
    const { provider } = replicas;
    const [one = '', other = ''] = replicas.origins;
    expect((await stream(other, { key })).status).toBe(200);
    provider.answers((call) => {
      call.refuse(429, { 'retry-after': String(COOLDOWN_SECONDS) });
    });
    expect((await stream(one, { key })).status).toBe(503);
    provider.answers((call) => {
      call.answer('Hi');
    });

    const late = await replicas.add();
    for (const origin of [other, late.origin]) {
      const answer = await waitFor(async () => {
        const tried = await stream(origin, { key });
        return tried.status === 503 && tried;
      }, 'the cooldown to arrive');
      const seconds = Number(answer.headers['retry-after']);
      expect(seconds).toBeLessThanOrEqual(COOLDOWN_SECONDS);
      expect(seconds).toBeGreaterThan(COOLDOWN_SECONDS - 60);
    }
  }, 120_000);
});
