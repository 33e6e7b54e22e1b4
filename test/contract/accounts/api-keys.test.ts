import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { getRepositoryToken } from '@nestjs/typeorm';
import { DataSource, Repository } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts.service.js';
import { generateApiKey } from '../../../src/accounts/api-key-format.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-key-verifier.js';
import { ApiKey } from '../../../src/accounts/api-key.entity.js';
import { ApiKeysService } from '../../../src/accounts/api-keys.service.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { createKey, FREE, openAccountsApp, PASSWORD, PRO } from './accounts-app.js';

describe.each(await testEngines())('API keys on $name', (engine) => {
  let now = Date.now();
  let database: TestDatabase;
  let app: INestApplicationContext;
  let other: INestApplicationContext;
  let verifier: ApiKeyVerifier;
  let keys: ApiKeysService;

  beforeAll(async () => {
    database = await engine.create();
    app = await openAccountsApp(database.config, { now: () => now });
    other = await openAccountsApp(database.config);
    verifier = app.get(ApiKeyVerifier);
    keys = app.get(ApiKeysService);
  });
  afterAll(async () => {
    await Promise.all([app.close(), other.close()]);
    await database.drop();
  });

  const lookups = () => vi.spyOn(app.get<Repository<ApiKey>>(getRepositoryToken(ApiKey)), 'createQueryBuilder');

  it('say whose they are', async () => {
    const account = await app.get(AccountsService).create({ email: 'a@example.com', password: PASSWORD, tier: 'pro' });
    const { id, key } = await keys.create(account.id, { name: ' laptop ' });
    await expect(verifier.verify(key)).resolves.toEqual({
      keyId: id,
      prefix: key.slice(0, 12),
      name: 'laptop',
      account: { id: account.id, email: 'a@example.com', tier: PRO },
    });
  });

  it('are kept as a hash only', async () => {
    const { key } = await createKey(app, 'hash@example.com');
    const rows: unknown = await app.get(DataSource).query('SELECT * FROM api_keys');
    expect(JSON.stringify(rows)).not.toContain(key);
    expect(JSON.stringify(rows)).toContain(key.slice(0, 12));
  });

  it('are not known when malformed, without a query', async () => {
    const spy = lookups();
    await expect(verifier.verify('csk_nonsense')).resolves.toBeUndefined();
    expect(spy).not.toHaveBeenCalled();
    spy.mockRestore();
  });

  it('are not known when nobody made them, and that is not remembered', async () => {
    const spy = lookups();
    const key = generateApiKey();
    await expect(verifier.verify(key)).resolves.toBeUndefined();
    await expect(verifier.verify(key)).resolves.toBeUndefined();
    expect(spy).toHaveBeenCalledTimes(2);
    spy.mockRestore();
  });

  it('are looked up once by requests that arrive together, and within half a second', async () => {
    const { key } = await createKey(app, 'cache@example.com');
    const spy = lookups();
    const verified = await Promise.all(Array.from({ length: 20 }, () => verifier.verify(key)));
    now += 499;
    verified.push(await verifier.verify(key));
    expect(verified.every((each) => each?.name === 'test')).toBe(true);
    expect(spy).toHaveBeenCalledTimes(1);
    now += 1;
    await verifier.verify(key);
    expect(spy).toHaveBeenCalledTimes(2);
    spy.mockRestore();
  });

  it('are refused at once after a revocation in this process', async () => {
    const { id, key } = await createKey(app, 'revoke@example.com');
    await verifier.verify(key);
    await keys.revoke(id);
    await expect(verifier.verify(key)).resolves.toBeUndefined();
  });

  it('are refused within a second after a revocation in another process', async () => {
    const { id, key } = await createKey(app, 'elsewhere@example.com');
    const elsewhere = other.get(ApiKeyVerifier);
    await expect(elsewhere.verify(key)).resolves.toBeDefined();
    await keys.revoke(id);
    const refused = async (): Promise<void> => {
      expect(await elsewhere.verify(key)).toBeUndefined();
    };
    await vi.waitFor(refused, { timeout: 1000, interval: 20 });
  });

  it('are not remembered from a lookup that a revocation overtook', async () => {
    const { id, key } = await createKey(app, 'overtaken@example.com');
    const early = verifier.verify(key);
    await keys.revoke(id);
    await early;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
  });

  it('are refused from their moment of expiry on, remembered or not', async () => {
    const { key } = await createKey(app, 'expiry@example.com', new Date(now + 100));
    now += 99;
    await expect(verifier.verify(key)).resolves.toBeDefined();
    now += 1;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
    now += 10_000;
    await expect(verifier.verify(key)).resolves.toBeUndefined();
  });

  it('have the default tier when the tier of the account is gone from the configuration', async () => {
    const account = await app.get(AccountsService).create({ email: 't@example.com', password: PASSWORD, tier: 'pro' });
    const { key } = await keys.create(account.id, { name: 'tier' });
    const reconfigured = await openAccountsApp(database.config, { tiers: [FREE] });
    await expect(reconfigured.get(ApiKeyVerifier).verify(key)).resolves.toMatchObject({ account: { tier: FREE } });
    await reconfigured.close();
  });

  it('are never called unknown because the database is away', async () => {
    const { key } = await createKey(app, 'away@example.com');
    const cut = await openAccountsApp(database.config);
    await cut.get(DataSource).destroy();
    await expect(cut.get(ApiKeyVerifier).verify(key)).rejects.toMatchObject({ code: 'unavailable', status: 503 });
    await cut.close();
  });

  it('are revoked once: the first moment stays', async () => {
    const { id } = await createKey(app, 'again@example.com');
    const first = await keys.revoke(id);
    now += 5000;
    await expect(keys.revoke(id)).resolves.toEqual(first);
  });

  it('cannot be revoked by another account', async () => {
    const { id, key } = await createKey(app, 'owner@example.com');
    await expect(keys.revoke(id, randomUUID())).rejects.toMatchObject({ code: 'not_found' });
    await expect(verifier.verify(key)).resolves.toBeDefined();
  });

  it('are listed oldest first with their moments and without their hash', async () => {
    const account = await app.get(AccountsService).create({ email: 'list@example.com', password: PASSWORD });
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

  it.each(['', '   ', 'x'.repeat(101)])('are refused the name %j', async (name) => {
    await expect(keys.create(randomUUID(), { name })).rejects.toMatchObject({ details: [{ field: 'name' }] });
  });

  it.each([new Date(0), new Date(Number.NaN)])('are refused the expiry %s', async (expiresAt) => {
    const wrong = keys.create(randomUUID(), { name: 'x', expiresAt });
    await expect(wrong).rejects.toMatchObject({ details: [{ field: 'expires_at' }] });
  });

  it('are not made for an account that does not exist', async () => {
    await expect(keys.create(randomUUID(), { name: 'x' })).rejects.toMatchObject({ code: 'not_found' });
  });
});
