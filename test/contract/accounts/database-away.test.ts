import type { INestApplicationContext } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts.service.js';
import { generateApiKey } from '../../../src/accounts/api-key-format.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-key-verifier.js';
import { ApiKey } from '../../../src/accounts/api-key.entity.js';
import { ApiKeysService } from '../../../src/accounts/api-keys.service.js';
import { RevocationWatch } from '../../../src/accounts/revocation-watch.js';
import { Session } from '../../../src/accounts/session.entity.js';
import { SessionsService } from '../../../src/accounts/sessions.service.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { waitFor } from '../../support/wait-for.js';
import { createKey, openAccountsApp } from './accounts-app.js';

const MINUTE_MS = 60_000;
const STALE_MS = 600;

describe.each(await testEngines())('while the database is away, on $name', (engine) => {
  let now = Date.now();
  let database: TestDatabase;
  let app: INestApplicationContext;
  let other: INestApplicationContext;
  let verifier: ApiKeyVerifier;

  beforeAll(async () => {
    database = await engine.create();
    app = await openAccountsApp(database.config, { now: () => now });
    other = await openAccountsApp(database.config);
    verifier = app.get(ApiKeyVerifier);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await waitFor(
      () =>
        verifier.verify(generateApiKey()).then(
          () => true,
          () => false,
        ),
      'keys to be looked up again',
    );
  });
  afterAll(async () => {
    await Promise.all([app.close(), other.close()]);
    await database.drop();
  });

  /** Queries of the entity fail, or hang. */
  function takeAway(entity: typeof ApiKey | typeof Session, how: 'fails' | 'hangs') {
    const answer =
      how === 'fails' ? () => Promise.reject(new Error('gone')) : () => new Promise<never>(() => undefined);
    const builder = { getOne: answer } as Record<string, unknown>;
    for (const step of ['innerJoin', 'select', 'addSelect', 'where']) builder[step] = () => builder;
    const repository = app.get<Repository<ApiKey>>(getRepositoryToken(entity));
    return vi.spyOn(repository, 'createQueryBuilder').mockImplementation((() => builder) as never);
  }

  it.each(['fails', 'hangs'] as const)(
    '(it %s) keys seen good go on, and others are unavailable, not unknown',
    async (how) => {
      const seen = await createKey(app, `seen-${how}@example.com`);
      const unseen = await createKey(app, `unseen-${how}@example.com`);
      await verifier.verify(seen.key);
      now += STALE_MS;

      takeAway(ApiKey, how);

      await expect(verifier.verify(seen.key)).resolves.toMatchObject({ keyId: seen.id });
      for (const key of [unseen.key, generateApiKey()]) {
        await expect(verifier.verify(key)).rejects.toMatchObject({ code: 'unavailable', retryAfterSeconds: 1 });
      }
    },
  );

  it('asks it now and then, not with every request', async () => {
    const { key } = await createKey(app, 'storm@example.com');
    await verifier.verify(key);
    now += STALE_MS;
    const asked = takeAway(ApiKey, 'hangs');
    await verifier.verify(key);

    const before = asked.mock.calls.length;
    for (let request = 0; request < 1000; request++) {
      await verifier.verify(key);
      await expect(verifier.verify(generateApiKey())).rejects.toMatchObject({ code: 'unavailable' });
    }

    expect(asked.mock.calls.length - before).toBeLessThanOrEqual(10);
  });

  it('keys are trusted for ten minutes, no longer', async () => {
    const { key } = await createKey(app, 'long@example.com');
    await verifier.verify(key);
    takeAway(ApiKey, 'fails');

    now += 9 * MINUTE_MS;
    await expect(verifier.verify(key)).resolves.toBeDefined();
    now += MINUTE_MS;
    await expect(verifier.verify(key)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('keys known to be revoked stay refused, whoever told of it', async () => {
    const here = await createKey(app, 'revoked-here@example.com');
    const there = await createKey(app, 'revoked-there@example.com');
    const watched = await createKey(app, 'revoked-watched@example.com');
    for (const { key } of [here, there, watched]) await verifier.verify(key);
    await app.get(ApiKeysService).revoke(here.id);
    await other.get(ApiKeysService).revoke(there.id);
    now += STALE_MS;
    await expect(verifier.verify(there.key)).resolves.toBeUndefined();
    const told = new Promise<void>((resolve) => app.get(RevocationWatch).watch(watched.id, resolve));
    await other.get(ApiKeysService).revoke(watched.id);
    await told;
    now += STALE_MS;

    takeAway(ApiKey, 'fails');

    for (const { key } of [there, watched]) await expect(verifier.verify(key)).resolves.toBeUndefined();
    await expect(verifier.verify(here.key)).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('hears of revocations and tiers as soon as it is back, without a request in between', async () => {
    const revoked = await createKey(app, 'back-r@example.com');
    const kept = await createKey(app, 'back-k@example.com');
    for (const { key } of [revoked, kept]) await verifier.verify(key);
    now += STALE_MS;
    const away = takeAway(ApiKey, 'fails');
    await expect(verifier.verify(revoked.key)).resolves.toBeDefined();
    await other.get(ApiKeysService).revoke(revoked.id);
    await other.get(AccountsService).setTier('back-k@example.com', 'pro');

    away.mockRestore();

    await waitFor(async () => (await verifier.verify(revoked.key)) === undefined, 'the key to be refused');
    await expect(verifier.verify(kept.key)).resolves.toMatchObject({ account: { tier: { name: 'pro' } } });
  });

  it('a connection that breaks once is nothing to tell of', async () => {
    const { key } = await createKey(app, 'once@example.com');
    const away = takeAway(ApiKey, 'fails');
    const first = verifier.verify(key);
    away.mockRestore();
    await expect(first).resolves.toBeDefined();
  });

  it('sessions seen good go on, and others are unavailable', async () => {
    const sessions = app.get(SessionsService);
    const { id } = await app.get(AccountsService).create({ email: 's@example.com', password: 'correct horse battery' });
    const [seen, ended] = [await sessions.create(id), await sessions.create(id)];
    for (const { token } of [seen, ended]) await sessions.verify(token);
    now += STALE_MS;

    const away = takeAway(Session, 'fails');
    await expect(sessions.verify(seen.token)).resolves.toMatchObject({ sessionId: seen.sessionId });
    away.mockRestore();
    await waitFor(async () => {
      await sessions.end(ended.sessionId);
      return (await sessions.verify(ended.token).catch(() => 'away')) === undefined;
    }, 'sessions to be looked up again');
  });
});
