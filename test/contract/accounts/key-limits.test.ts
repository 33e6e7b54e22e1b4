import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService, type ListedApiKey } from '../../../src/accounts/api-keys/api-keys.service.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { openAccountsApp } from './accounts-app.js';
import { PASSWORD } from '../../support/usual-password.js';

const HOUR_MS = 3_600_000;
const MAX_ACTIVE = 100;
const MAX_ENDED = 1000;

describe.each(await testEngines())('the limits of keys on $name', (engine) => {
  let now = Date.now();
  let database: TestDatabase;
  /** Two processes of the service. */
  let apps: INestApplicationContext[];
  let keys: ApiKeysService;
  let accounts = 0;

  beforeAll(async () => {
    database = await engine.create();
    apps = await Promise.all([1, 2].map(() => openAccountsApp(database.config, { now: () => now })));
    const [app] = apps as [INestApplicationContext];
    keys = app.get(ApiKeysService);
  });
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await database.drop();
  });

  const newAccount = async () => {
    const email = `ada-${++accounts}@example.com`;
    return (await apps[0]?.get(AccountsService).create({ email, password: PASSWORD }))?.id ?? '';
  };
  const isActive = ({ revokedAt, expiresAt }: ListedApiKey) =>
    revokedAt === null && (expiresAt === null || expiresAt.getTime() > now);
  const activeKeys = async (accountId: string) => (await keys.list(accountId)).filter(isActive);
  const fill = async (accountId: string, count = MAX_ACTIVE) => {
    for (let n = 0; n < count; n++) await keys.create(accountId, { name: `key ${n}` });
  };

  it('are a hundred active ones, however many are requested at once, at any process', async () => {
    const account = await newAccount();
    const requested = apps.flatMap((app) =>
      Array.from({ length: 70 }, () => app.get(ApiKeysService).create(account, { name: 'flood' })),
    );
    const outcomes = await Promise.allSettled(requested);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_ACTIVE);
    const refusals = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as object] : []));
    for (const refusal of refusals) {
      expect(refusal).toMatchObject({ code: 'invalid_request', message: expect.stringContaining('100') as string });
    }
    expect(await activeKeys(account)).toHaveLength(MAX_ACTIVE);
  });

  it('do not count keys that were revoked or have expired, nor those of other accounts', async () => {
    const [account, other] = [await newAccount(), await newAccount()];
    await fill(account, 98);
    const { id } = await keys.create(account, { name: 'to be revoked' });
    await keys.create(account, { name: 'short', expiresAt: new Date(now + 1000) });
    await expect(keys.create(account, { name: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
    await keys.revoke(id);
    await keys.create(account, { name: 'in place of the revoked' });
    await expect(keys.create(account, { name: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
    now += 1000;
    await keys.create(account, { name: 'in place of the expired' });
    await expect(keys.create(account, { name: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(keys.create(other, { name: 'x' })).resolves.toBeDefined();
  });

  it('let a key be rotated at the limit when the old one ends at once, and change nothing otherwise', async () => {
    const account = await newAccount();
    await fill(account);
    const [first, second] = (await keys.list(account)) as [ListedApiKey, ListedApiKey];
    const before = await keys.list(account);
    await expect(keys.rotate(first.id, account, { overlapMs: HOUR_MS })).rejects.toMatchObject({
      code: 'invalid_request',
    });
    expect(await keys.list(account)).toEqual(before);

    await keys.rotate(first.id, account, { overlapMs: 0 });
    await keys.rotate(second.id, account, { overlapMs: 0 });
    expect((await keys.find(first.id, account)).revokedAt).toEqual(new Date(now));
    expect(await activeKeys(account)).toHaveLength(MAX_ACTIVE);
  });

  it('hold for rotations at the same time', async () => {
    const account = await newAccount();
    await fill(account);
    const ids = (await keys.list(account)).slice(0, 20).map(({ id }) => id);
    await Promise.allSettled(
      ids.flatMap((id) => apps.map((app) => app.get(ApiKeysService).rotate(id, account, { overlapMs: 0 }))),
    );
    expect((await activeKeys(account)).length).toBeLessThanOrEqual(MAX_ACTIVE);
  });

  it('keep a thousand ended keys, the youngest', async () => {
    const account = await newAccount();
    const active = await keys.create(account, { name: 'active' });
    await addEndedKeys(account, MAX_ENDED + 5);
    await keys.create(account, { name: 'ends now', expiresAt: new Date(now + 1) });
    now += 1;
    await keys.create(account, { name: 'another' });
    const list = await keys.list(account);
    expect(list).toHaveLength(MAX_ENDED + 2);
    expect(list.filter(isActive).map(({ name }) => name)).toEqual(['active', 'another']);
    const ended = list.filter((key) => !isActive(key)).map(({ name }) => name);
    expect([ended[0], ended.at(-1)]).toEqual(['ended 6', 'ends now']);
    expect(list.some(({ id }) => id === active.id)).toBe(true);
  });

  it('make no key for a session that has ended', async () => {
    const account = await newAccount();
    const sessions = (apps[0] as INestApplicationContext).get(SessionsService);
    const { sessionId } = await sessions.create(account);
    const made = await keys.create(account, { name: 'x', sessionId });
    await sessions.end(sessionId);
    const requested = { name: 'x', sessionId };
    await expect(keys.create(account, requested)).rejects.toMatchObject({ code: 'unauthenticated' });
    await expect(keys.rotate(made.id, account, { ...requested, overlapMs: 0 })).rejects.toMatchObject({
      code: 'unauthenticated',
    });
    expect((await activeKeys(account)).map(({ id }) => id)).toEqual([made.id]);
  });

  /** Writes straight into the table, because the service would take minutes. One half is revoked, the other half has expired. */
  async function addEndedKeys(accountId: string, count: number): Promise<void> {
    const rows = Array.from({ length: count }, (_, n) => {
      const at = new Date(now - 1_000_000 + n * 100).toISOString();
      const end = n % 2 === 0 ? `'${at}', NULL` : `NULL, '${at}'`;
      return `('${accountId}-${n}', '${accountId}', 'ended ${n}', 'csk_', '${accountId}-${n}', '${at}', ${end})`;
    });
    const columns = 'id, account_id, name, prefix, hashed_key, created_at, revoked_at, expires_at';
    await apps[0]?.get(DataSource).query(`INSERT INTO api_keys (${columns}) VALUES ${rows.join(', ')}`);
  }
});
