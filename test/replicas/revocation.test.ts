import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { ENDED_WITHIN_MS, KNOWN_WITHIN_MS } from '../support/known-within.js';
import { openStream } from '../support/sse-client.js';
import { lastBefore, waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';
import { burst } from './support/burst.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();
/** Longer than the replica waits for an answer of the database before the database counts as unavailable. */
const SLOW_MS = 3_000;
/** More requests than the replica needs to know that the database is slow. */
const SURELY = 4;

describe.skipIf(stores === undefined)('what one replica on PostgreSQL and Redis changes', () => {
  let replicas: Replicas;

  beforeAll(async () => {
    const tiers = { free: { requests_per_minute: 1000 } };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
    replicas.provider.answers((call) => {
      call.head().text('Hi');
    });
  }, 180_000);
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  /** When the last request was sent to any replica that was accepted. */
  async function lastAcceptance(key: string): Promise<number> {
    const isRefused = async (origin: string): Promise<boolean> => {
      const answer = await openStream(origin, { key });
      answer.leave();
      return answer.status === 401;
    };
    const last = replicas.origins.map((origin) => lastBefore(() => isRefused(origin), 'the key to be refused'));
    return Math.max(...(await Promise.all(last)));
  }

  it('is known to the others within a second when it is a revoked key, whose streams end within two', async () => {
    const [{ id, key }, other] = [await replicas.createKey(), await replicas.createKey()];
    const running = await burst(replicas.origins, 2, { key });
    const untouched = await burst(replicas.origins, 1, { key: other.key });

    await replicas.accounts.get(ApiKeysService).revoke(id);
    const revokedAt = performance.now();

    expect((await lastAcceptance(key)) - revokedAt).toBeLessThan(KNOWN_WITHIN_MS);
    for (const answer of running.admitted) {
      expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
    }
    expect(performance.now() - revokedAt).toBeLessThan(ENDED_WITHIN_MS);
    expect(untouched.admitted.map(({ blocks }) => blocks.length)).toEqual([1, 1, 1]);
    untouched.leave();
  });

  it('is not overlooked by a replica whose database answers after seconds', async () => {
    const { id, key } = await replicas.createKey();
    const [origin = ''] = replicas.origins;
    const status = async (): Promise<number> => {
      const answer = await openStream(origin, { key });
      answer.leave();
      return answer.status;
    };
    await waitFor(async () => (await status()) === 200, 'the key to be known');
    replicas.postgres.delayMs = SLOW_MS / 2;
    try {
      // At first, the replica takes the silence for an outage.
      let refused = 0;
      await waitFor(
        async () => (refused = (await status()) === 503 ? refused + 1 : 0) === SURELY,
        'the slowness',
        60_000,
      );

      await replicas.accounts.get(ApiKeysService).revoke(id);
      await sleep(KNOWN_WITHIN_MS);

      for (let request = 0; request < SURELY; request++) expect([401, 503]).toContain(await status());
    } finally {
      replicas.postgres.restore();
    }
    await waitFor(async () => (await status()) === 401, 'the end of the key');
  }, 120_000);
});
