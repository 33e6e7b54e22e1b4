import { randomUUID } from 'node:crypto';
import { DataSource, SelectQueryBuilder } from 'typeorm';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { API_KEY_FORMAT } from '../../../src/accounts/credentials/secrets.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { ApiKey } from '../../../src/accounts/api-keys/api-key.entity.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { AccountChanges } from '../../../src/accounts/credentials/account-changes.js';
import { CredentialDatabase } from '../../../src/platform/database/credential-database.js';
import { testEngines } from '../../support/database.js';
import { waitFor } from '../../support/wait-for.js';
import { accountsSuite, createKey, FREE, openAccountsApp, PRO } from './accounts-app.js';
import { PASSWORD } from '../../support/usual-password.js';

describe.each(await testEngines())('API keys on $name', (engine) => {
  let now = Date.now();
  const suite = accountsSuite(engine, { now: () => now, processes: 2 });
  let verifier: ApiKeyVerifier;
  let keys: ApiKeysService;

  beforeAll(() => {
    verifier = suite.get(ApiKeyVerifier);
    keys = suite.get(ApiKeysService);
  });

  const lookups = () =>
    vi.spyOn(suite.get(CredentialDatabase, { strict: false }).repository(ApiKey), 'createQueryBuilder');

  it('say whose they are', async () => {
    const account = await suite
      .get(AccountsService)
      .create({ email: 'a@example.com', password: PASSWORD, tier: 'pro' });
    const { id, key } = await keys.create(account.id, { name: ' laptop ' });
    await expect(verifier.verify(key)).resolves.toEqual({
      keyId: id,
      prefix: key.slice(0, 12),
      name: 'laptop',
      expiresAt: null,
      readAt: expect.any(Number) as unknown,
      account: { id: account.id, email: 'a@example.com', tier: PRO },
    });
  });

  it('are kept as a hash only', async () => {
    const { key } = await createKey(suite.app, 'hash@example.com');
    const rows: unknown = await suite.get(DataSource).query('SELECT * FROM api_keys');
    expect(JSON.stringify(rows)).not.toContain(key);
    expect(JSON.stringify(rows)).toContain(key.slice(0, 12));
  });

  it('are not known when malformed, without a query', async () => {
    const spy = lookups();
    await expect(verifier.verify('csk_nonsense')).resolves.toBeUndefined();
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  });

  it('are unknown when they were never created, and are not looked up again for a second', async () => {
    const spy = lookups();
    const key = API_KEY_FORMAT.generate();
    for (let request = 0; request < 100; request++) await expect(verifier.verify(key)).resolves.toBeUndefined();
    now += 999;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
    expect(spy).toHaveBeenCalledTimes(1);
    now += 1;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
    expect(spy).toHaveBeenCalledTimes(2);
    spy.mockRestore();
  });

  it('are looked up together when many come at once, with a few queries', async () => {
    const valid = await Promise.all(['x', 'y', 'z'].map((name) => createKey(suite.app, `batch-${name}@example.com`)));
    const spy = vi.spyOn(
      suite.other.get(CredentialDatabase, { strict: false }).repository(ApiKey),
      'createQueryBuilder',
    );
    const all = [...Array.from({ length: 500 }, () => API_KEY_FORMAT.generate()), ...valid.map(({ key }) => key)];

    const verified = await Promise.all(
      all.map((key, index) => suite.other.get(ApiKeyVerifier).verify(key, () => `n${index}`)),
    );

    expect(verified.slice(0, 500).every((each) => each === undefined)).toBe(true);
    expect(verified.slice(500).map((each) => each?.keyId)).toEqual(valid.map(({ id }) => id));
    expect(spy.mock.calls.length).toBeLessThanOrEqual(5);
    spy.mockRestore();
  });

  it('are looked up no more from a network with too many unknown ones, unless they were seen to be valid', async () => {
    const elsewhere = await openAccountsApp(suite.database.config);
    const there = elsewhere.get(ApiKeyVerifier);
    // The budget of a network is refilled with time.
    const now = performance.now();
    const clock = vi.spyOn(performance, 'now').mockReturnValue(now);
    const [seen, unseen] = [
      await createKey(suite.app, 'seen@example.com'),
      await createKey(suite.app, 'unseen@example.com'),
    ];
    const from = (network: string) => () => network;
    await there.verify(seen.key, from('crowded'));
    const crowd = [...Array.from({ length: 400 }, () => API_KEY_FORMAT.generate()), unseen.key, seen.key];

    const answers = await Promise.allSettled(crowd.map((key) => there.verify(key, from('crowded'))));

    expect(answers[0]).toEqual({ status: 'fulfilled', value: undefined });
    // The key that was seen to be valid counts as nothing.
    const refusals = answers.filter(({ status }) => status === 'rejected');
    expect(refusals).toHaveLength(201);
    for (const refused of refusals) {
      expect(refused).toMatchObject({ reason: { code: 'rate_limit_exceeded', retryAfterSeconds: 1 } });
    }
    expect(answers.at(-1)).toMatchObject({ value: { keyId: seen.id } });
    await expect(there.verify(API_KEY_FORMAT.generate(), from('quiet'))).resolves.toBeUndefined();
    await expect(there.verify(unseen.key, from('quiet'))).resolves.toBeDefined();
    await expect(there.verify(unseen.key, from('crowded'))).resolves.toBeDefined();
    const account = await elsewhere.get(AccountsService).findByEmail('seen@example.com');
    const made = await elsewhere.get(ApiKeysService).create(account?.id ?? '', { name: 'made here' });
    await expect(there.verify(made.key, from('crowded'))).resolves.toBeDefined();
    await expect(there.verify(API_KEY_FORMAT.generate(), from('crowded'))).rejects.toMatchObject({
      code: 'rate_limit_exceeded',
    });
    clock.mockReturnValue(now + 1000);
    await expect(there.verify(API_KEY_FORMAT.generate(), from('crowded'))).resolves.toBeUndefined();
    clock.mockRestore();
    await elsewhere.close();
  });

  it('are looked up once by requests that arrive together, and within ten seconds', async () => {
    const { key } = await createKey(suite.app, 'cache@example.com');
    const changes = suite.get(AccountChanges);
    await waitFor(() => changes.isCurrent, 'the changes to be read');
    // The other tests keep the database busy, and nothing is remembered while changes are not read in time.
    const current = vi.spyOn(changes, 'isCurrent', 'get').mockReturnValue(true);
    const spy = lookups();
    const verified = await Promise.all(Array.from({ length: 20 }, () => verifier.verify(key)));
    now += 9_999;
    verified.push(await verifier.verify(key));
    expect(verified.every((each) => each?.name === 'test')).toBe(true);
    expect(spy).toHaveBeenCalledTimes(1);
    now += 1;
    await verifier.verify(key);
    expect(spy).toHaveBeenCalledTimes(2);
    spy.mockRestore();
    current.mockRestore();
  });

  it('are refused from their moment of expiry on, remembered or not', async () => {
    const { key } = await createKey(suite.app, 'expiry@example.com', new Date(now + 100));
    now += 99;
    await expect(verifier.verify(key)).resolves.toBeDefined();
    now += 1;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
    now += 10_000;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
  });

  it('have the default tier when the tier of the account is gone from the configuration', async () => {
    const account = await suite
      .get(AccountsService)
      .create({ email: 't@example.com', password: PASSWORD, tier: 'pro' });
    const { key } = await keys.create(account.id, { name: 'tier' });
    const reconfigured = await openAccountsApp(suite.database.config, { tiers: [FREE] });
    await expect(reconfigured.get(ApiKeyVerifier).verify(key)).resolves.toMatchObject({ account: { tier: FREE } });
    await reconfigured.close();
  });

  it('are never called unknown because the database fails', async () => {
    const { key } = await createKey(suite.app, 'away@example.com');
    const cut = await openAccountsApp(suite.database.config);
    const lookup = vi
      .spyOn(SelectQueryBuilder.prototype, 'getMany')
      .mockRejectedValue(new Error('The database fails.'));
    await expect(cut.get(ApiKeyVerifier).verify(key)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    lookup.mockRestore();
    await cut.close();
  });

  it('are listed oldest first with their moments and without their hash', async () => {
    const account = await suite.get(AccountsService).create({ email: 'list@example.com', password: PASSWORD });
    const first = await keys.create(account.id, { name: 'first' });
    now += 10;
    const expiresAt = new Date(now + 1000);
    await keys.create(account.id, { name: 'second', expiresAt });
    const { revokedAt } = await keys.revoke(first.id);
    const list = await keys.list(account.id);
    expect(list).toMatchObject([
      { name: 'first', revokedAt, expiresAt: null, lastUsedAt: null, prefix: first.key.slice(0, 12) },
      { name: 'second', revokedAt: null, expiresAt, createdAt: new Date(now) },
    ]);
    expect(JSON.stringify(list)).not.toContain('hashedKey');
  });

  it.each([
    ['in the past', () => new Date(0)],
    ['of this moment', () => new Date(now)],
    ['that is not a date', () => new Date(Number.NaN)],
  ])('are refused an expiry %s', async (_, expiry) => {
    const wrong = keys.create(randomUUID(), { name: 'x', expiresAt: expiry() });
    await expect(wrong).rejects.toMatchObject({ details: [{ field: 'expires_at' }] });
  });

  it('are not created for an account that does not exist', async () => {
    await expect(keys.create(randomUUID(), { name: 'x' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
