import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { OperatorKeys } from '../../src/accounts/operator-keys/operator-keys.service.js';
import { SessionsService } from '../../src/accounts/sessions/sessions.service.js';
import { ENDED_WITHIN_MS, KNOWN_WITHIN_MS } from '../support/known-within.js';
import { openStream, type StreamOptions } from '../support/sse-client.js';
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
    const tiers = { free: { requests_per_minute: 1000 }, pro: { requests_per_minute: 2000 } };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
    replicas.provider.answers((call) => {
      call.head().text('Hi');
    });
  }, 180_000);
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  /** When the last request was sent to any replica that was answered otherwise. */
  async function lastOtherwise(
    options: (origin: string) => StreamOptions,
    is: (status: number, limit: string) => boolean,
  ): Promise<number> {
    const isSo = async (origin: string): Promise<boolean> => {
      const answer = await openStream(origin, options(origin));
      answer.leave();
      return is(answer.status, String(answer.headers['x-ratelimit-limit']));
    };
    const last = replicas.origins.map((origin) => lastBefore(() => isSo(origin), 'the change to be seen'));
    return Math.max(...(await Promise.all(last)));
  }

  it('is known to the others within a second when it is a revoked key, whose streams end within two', async () => {
    const [{ id, key }, other] = [await replicas.createKey(), await replicas.createKey()];
    const running = await burst(replicas.origins, 2, { key });
    const untouched = await burst(replicas.origins, 1, { key: other.key });

    await replicas.accounts.get(ApiKeysService).revoke(id);
    const revokedAt = performance.now();

    const lastAccepted = await lastOtherwise(
      () => ({ key }),
      (status) => status === 401,
    );
    expect(lastAccepted - revokedAt).toBeLessThan(KNOWN_WITHIN_MS);
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

  it('is known to the others within a second when it is a revoked operator key', async () => {
    const keys = replicas.accounts.get(OperatorKeys);
    const { id, key } = await keys.create({ name: 'gone soon', scope: 'read' });
    const read = () => ({
      ...{ method: 'GET', path: '/api/v1/admin/accounts?limit=1' },
      headers: { authorization: `Bearer ${key}` },
    });
    const before = await Promise.all(replicas.origins.map((origin) => openStream(origin, read())));
    expect(before.map(({ status }) => status)).toEqual([200, 200, 200]);

    await keys.revoke(id);
    const revokedAt = performance.now();

    const lastAccepted = await lastOtherwise(read, (status) => status === 401);
    expect(lastAccepted - revokedAt).toBeLessThan(KNOWN_WITHIN_MS);
  });

  it('is known to the others within a second when it is a session that ends', async () => {
    const { accountId } = await replicas.createKey();
    const sessions = replicas.accounts.get(SessionsService);
    const { token, sessionId } = await sessions.create(accountId);
    const signedIn = (origin: string) => ({
      headers: { cookie: `__Host-session=${token}`, origin, host: new URL(origin).host },
    });
    const running = await Promise.all(replicas.origins.map((origin) => openStream(origin, signedIn(origin))));
    expect(running.map(({ status }) => status)).toEqual([200, 200, 200]);

    await sessions.end(sessionId);
    const endedAt = performance.now();

    const lastAccepted = await lastOtherwise(signedIn, (status) => status === 401);
    expect(lastAccepted - endedAt).toBeLessThan(KNOWN_WITHIN_MS);
    for (const answer of running) {
      expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
    }
    expect(performance.now() - endedAt).toBeLessThan(ENDED_WITHIN_MS);
  });

  it('is known to the others within a second when it is another tier', async () => {
    const { key, email } = await replicas.createKey();
    await lastOtherwise(
      () => ({ key }),
      (_, limit) => limit === '1000',
    );

    await replicas.accounts.get(AccountsService).setTier(email, 'pro');
    const changedAt = performance.now();

    const lastOfBefore = await lastOtherwise(
      () => ({ key }),
      (_, limit) => limit === '2000',
    );
    expect(lastOfBefore - changedAt).toBeLessThan(KNOWN_WITHIN_MS);
  });
});
