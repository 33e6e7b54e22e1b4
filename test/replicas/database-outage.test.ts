import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../src/accounts/accounts/accounts.service.js';
import { API_KEY_FORMAT } from '../../src/accounts/credentials/secrets.js';
import { ApiKeysService } from '../../src/accounts/api-keys/api-keys.service.js';
import { SessionsService } from '../../src/accounts/sessions/sessions.service.js';
import { KNOWN_WITHIN_MS } from '../support/known-within.js';
import { Latch } from '../support/latch.js';
import { get, openStream, stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { wireOf } from '../support/wire.js';
import { burst, NOT_HANGING_MS } from './support/burst.js';
import { outcomesOf } from './support/ledger.js';
import { Replicas } from './support/replicas.js';
import { sharedStores } from './support/stores.js';

const stores = await sharedStores();

const READY = '/api/v1/health/ready';
const SEEN_MS = 20_000;

describe.skipIf(stores === undefined)('three replicas on Redis while PostgreSQL is unavailable', () => {
  let replicas: Replicas;
  let finish: Latch;

  beforeAll(async () => {
    const tiers = { free: { requests_per_minute: 500 }, small: { requests_per_minute: 1 } };
    replicas = await Replicas.start(stores as NonNullable<typeof stores>, { tiers });
    replicas.provider.answers(async (call) => {
      call.head().text('Hel');
      await finish.opened;
      call.text('lo').finish().endMarker().end();
    });
  }, 180_000);
  afterEach(async () => {
    finish.open();
    replicas.postgres.restore();
    await haveLookedUp((await replicas.createKey()).key);
  });
  afterAll(async () => {
    await replicas.stop();
    await stores?.redis.drop();
  }, 60_000);

  const statusOf = async (origin: string, key: string): Promise<number> => {
    const answer = await openStream(origin, { key });
    answer.leave();
    return answer.status;
  };
  const are = (status: number) =>
    waitFor(
      async () => {
        const answers = await Promise.all(replicas.origins.map((origin) => get(origin, READY)));
        return answers.every((answer) => answer.status === status);
      },
      `all to answer ${status} to ${READY}`,
      SEEN_MS,
    );

  async function inTime<T>(asked: Promise<T>): Promise<T> {
    const queriedAt = performance.now();
    const answer = await asked;
    expect(performance.now() - queriedAt).toBeLessThan(NOT_HANGING_MS);
    return answer;
  }
  /** Each finds out by itself, within moments. Nobody says meanwhile that the key is unknown. */
  const haveLookedUp = (key: string) =>
    waitFor(
      async () => {
        const statuses = await Promise.all(replicas.origins.map((origin) => statusOf(origin, key)));
        for (const status of statuses) expect([200, 503]).toContain(status);
        return statuses.every((status) => status === 200);
      },
      'the key to be looked up',
      2 * SEEN_MS,
    );

  it.each(['cut', 'stall'] as const)(
    '(%s) accept keys that they have seen, return 503 for others, and lose no usage',
    async (how) => {
      finish = new Latch();
      const seen = await replicas.createKey();
      const unseen = await replicas.createKey();
      const revoked = await replicas.createKey();
      const { token } = await replicas.accounts.get(SessionsService).create(seen.accountId);
      const bySession = (origin: string) => ({
        headers: { cookie: `__Host-session=${token}`, origin, host: new URL(origin).host },
      });
      await replicas.accounts.get(ApiKeysService).revoke(revoked.id);
      // A replica that looks the key up before it knows of the change would look it up again.
      await sleep(KNOWN_WITHIN_MS);
      const running = await burst(replicas.origins, 3, { key: seen.key });
      for (const origin of replicas.origins) {
        const session = await openStream(origin, bySession(origin));
        expect(session.status).toBe(200);
        session.leave();
        expect(await statusOf(origin, revoked.key)).toBe(401);
      }
      expect(running.admitted).toHaveLength(9);
      await are(200);

      replicas.postgres[how]();
      const during = await burst(replicas.origins, 5, { key: seen.key });
      expect(during.admitted).toHaveLength(15);
      expect(during.longestMs).toBeLessThan(NOT_HANGING_MS);

      for (const origin of replicas.origins) {
        expect((await inTime(get(origin, '/api/v1/health'))).status).toBe(200);
        expect((await inTime(get(origin, '/api/v1/chat/models'))).status).toBe(200);
        const answers = await burst([origin], 5, { key: unseen.key });
        expect(answers.answers.map(({ status }) => status)).toEqual([503, 503, 503, 503, 503]);
        expect(await answers.codes()).toEqual(['unavailable']);
        expect(answers.longestMs).toBeLessThan(NOT_HANGING_MS);
        expect(answers.answers[0]?.headers['retry-after']).toBe('1');
        expect((await inTime(stream(origin, { key: API_KEY_FORMAT.generate() }))).status).toBe(503);
        expect(await inTime(statusOf(origin, revoked.key))).toBe(401);
        const session = await inTime(openStream(origin, bySession(origin)));
        expect(session.status).toBe(200);
        session.leave();
        const ready = await inTime(get(origin, READY));
        expect(ready.status).toBe(503);
        expect(JSON.parse(ready.raw)).toMatchObject({
          parts: { database: 'down', redis: 'up', draining: false },
          error: { code: 'unavailable' },
        });
      }
      // Streams that ran before and those that began meanwhile end as if nothing were.
      finish.open();
      for (const answer of [...running.admitted, ...during.admitted]) {
        expect(await wireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'done' });
      }

      replicas.postgres.restore();
      await are(200);
      await haveLookedUp(unseen.key);
      const completed = async () => (await outcomesOf(replicas.accounts, seen.accountId))['completed'];
      await waitFor(async () => (await completed()) === 24, 'all usage to be written', SEEN_MS);
    },
    120_000,
  );

  it('read at once after its return what was revoked and changed meanwhile', async () => {
    finish = new Latch();
    const [kept, revoked] = [await replicas.createKey(), await replicas.createKey()];
    const running = await burst(replicas.origins, 1, { key: revoked.key });
    const others = await burst(replicas.origins, 1, { key: kept.key });
    replicas.postgres.cut();
    for (const origin of replicas.origins) expect(await statusOf(origin, revoked.key)).toBe(200);
    await replicas.accounts.get(ApiKeysService).revoke(revoked.id);
    await replicas.accounts.get(AccountsService).setTier(kept.email, 'small');
    for (const origin of replicas.origins) expect(await statusOf(origin, revoked.key)).toBe(200);

    replicas.postgres.restore();
    const backAt = performance.now();

    for (const answer of running.admitted) {
      expect(await wireOf(answer)).toMatchObject({ text: 'Hel', terminal: 'key_revoked' });
    }
    expect(performance.now() - backAt).toBeLessThan(NOT_HANGING_MS);
    const limitOf = async (origin: string): Promise<unknown> => {
      const answer = await openStream(origin, { key: kept.key });
      answer.leave();
      return answer.headers['x-ratelimit-limit'];
    };
    for (const origin of replicas.origins) {
      await waitFor(async () => (await statusOf(origin, revoked.key)) === 401, 'the end of the key', NOT_HANGING_MS);
      await waitFor(async () => (await limitOf(origin)) === '1', 'the new tier', NOT_HANGING_MS);
    }
    others.leave();
  }, 60_000);
});
