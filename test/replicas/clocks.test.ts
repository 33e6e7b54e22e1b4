import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { SessionsService } from '../../src/accounts/sessions/sessions.service.js';
import { Latch } from '../support/latch.js';
import { openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { readWire, wireOf } from '../support/wire.js';
import { burst } from './support/burst.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

const DAY_MS = 86_400_000;
/** Longer than a lease lives. */
const RENEWED_AFTER_MS = 30_000;
const shifted = (days: number) => ({
  NODE_OPTIONS: `--import ${new URL('support/shifted-clock.mjs', import.meta.url).href}`,
  CLOCK_SHIFT_MS: String(days * DAY_MS),
});

describe.skipIf(stores === undefined)('replicas on PostgreSQL and Redis whose clocks are wrong by weeks', () => {
  let replicas: Replicas;
  let finish: Latch;

  beforeAll(async () => {
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, {
      tiers: {
        free: {},
        requests: { requests_per_minute: 10 },
        tokens: { tokens_per_day: 500 },
        streams: { concurrent_streams: 3 },
      },
      envs: [shifted(0), shifted(40), shifted(-40)],
    });
    finish = new Latch();
    replicas.provider.answers(async (call) => {
      call.head().text('Hel');
      await finish.opened;
      call.text('lo').finish().endMarker().end();
    });
  }, 180_000);
  afterAll(async () => {
    finish.open();
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  it('count tokens of the same day', async () => {
    const { key } = await replicas.createKey('tokens');

    // At most 10 tokens of the prompt, and 90 asked for: 5 of them.
    const sent = await burst(replicas.origins, 5, { key, body: { max_tokens: 90 } });

    expect(sent.admitted).toHaveLength(5);
    expect(await sent.codes()).toEqual(['quota_exceeded']);
    for (const refused of sent.refused) {
      expect((await refused.error()).message).toContain('until midnight UTC');
      expect(Number(refused.headers['x-ratelimit-reset-tokens'])).toBeLessThanOrEqual(86_400);
    }
    sent.leave();
  });

  it('count requests of the same minute', async () => {
    const { key } = await replicas.createKey('requests');

    const sent = await burst(replicas.origins, 8, { key });

    expect(sent.admitted).toHaveLength(10);
    for (const { headers } of sent.refused) expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    expect(await sent.codes()).toEqual(['rate_limit_exceeded']);
    sent.leave();
  });

  it('keep each other’s leases alive no longer and no shorter', async () => {
    const { key } = await replicas.createKey('streams');
    const held = await burst(replicas.origins, 1, { key });
    expect(held.admitted).toHaveLength(3);

    const until = performance.now() + RENEWED_AFTER_MS;
    await waitFor(
      async () => {
        const refused = await burst(replicas.origins, 1, { key });
        expect(refused.admitted).toHaveLength(0);
        return performance.now() > until;
      },
      'the leases to be renewed',
      2 * RENEWED_AFTER_MS,
    );
    held.leave();
  }, 90_000);

  it('agree on who is signed in, and on the end of a key', async () => {
    const { accountId } = await replicas.createKey();
    const { token } = await replicas.accounts.get(SessionsService).create(accountId);
    const expiring = await replicas.accounts
      .get(ApiKeysService)
      .create(accountId, { name: 'expiring', expiresAt: new Date(Date.now() + 5_000) });
    const signedIn = (origin: string) => ({ cookie: `__Host-session=${token}`, origin, host: new URL(origin).host });
    const running = [];
    for (const origin of replicas.origins) {
      const bySession = await openStream(origin, { headers: signedIn(origin) });
      const byKey = await openStream(origin, { key: expiring.key });
      expect([bySession.status, byKey.status]).toEqual([200, 200]);
      running.push({ origin, bySession, byKey });
    }

    for (const { origin, bySession, byKey } of running) {
      expect(await wireOf(byKey)).toMatchObject({ text: 'Hel', terminal: 'key_revoked' });
      expect((await stream(origin, { key: expiring.key })).status).toBe(401);
      expect(readWire(bySession.raw)).toMatchObject({ text: 'Hel', terminal: undefined });
      bySession.leave();
    }
  });

  it('write down the day that it is', async () => {
    const { key, accountId } = await replicas.createKey();
    finish.open();
    for (const origin of replicas.origins) await stream(origin, { key });
    finish = new Latch();

    const days = () =>
      replicas.accounts
        .get(DataSource)
        .query<{ started_at: string }[]>('SELECT started_at FROM usage_records WHERE account_id = $1', [accountId]);
    await waitFor(async () => (await days()).length === 3, 'three records');
    for (const { started_at: startedAt } of await days()) {
      expect(Math.abs(Date.parse(startedAt) - Date.now())).toBeLessThan(60_000);
    }
  });
});
