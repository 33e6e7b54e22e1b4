import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { DevelopmentAccounts } from '../../../src/accounts/accounts/development-account.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { testEngines, type TestDatabase } from '../../support/database.js';
import { accountsSuite, openAccountsApp, PRO } from './accounts-app.js';
import { PASSWORD } from '../../support/usual-password.js';

describe.each(await testEngines())('accounts on $name', (engine) => {
  const suite = accountsSuite(engine);
  let accounts: AccountsService;

  beforeAll(() => {
    accounts = suite.get(AccountsService);
  });

  it('are found by email, whatever its case', async () => {
    const created = await accounts.create({ email: ' Ada@Example.com ', password: PASSWORD });
    const found = await accounts.findByEmail('ADA@example.COM');
    expect(found).toEqual(created);
    expect(found).toMatchObject({ email: 'ada@example.com', tier: 'free', createdAt: expect.any(Date) as Date });
    await expect(accounts.findById(created.id)).resolves.toEqual(created);
  });

  it.each(['nobody@example.com', 'nobody', 'nul\0@example.com', ''])('are not found by %j', async (email) => {
    await expect(accounts.findByEmail(email)).resolves.toBeUndefined();
    await expect(accounts.verifyPassword(email, PASSWORD)).resolves.toBeUndefined();
  });

  it('keep the password as an Argon2id hash with the parameters of OWASP', async () => {
    const { passwordHash } = await accounts.create({ email: 'hash@example.com', password: PASSWORD });
    expect(passwordHash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  });

  it('are created once by two concurrent requests', async () => {
    const both = [1, 2].map(() => accounts.create({ email: 'race@example.com', password: PASSWORD }));
    const outcomes = await Promise.allSettled(both);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it.each(['', 'a@', '@b.c', 'a b@c.d', 'a@b..c', 'a@b.c\nd', `${'a'.repeat(251)}@b.c`])(
    'are refused the email %j',
    async (email) => {
      await expect(accounts.create({ email, password: PASSWORD })).rejects.toMatchObject({
        details: [{ field: 'email' }],
      });
    },
  );

  it.each([7, 1025])('are refused a password of %d characters', async (length) => {
    const wrong = accounts.create({ email: 'length@example.com', password: 'x'.repeat(length) });
    await expect(wrong).rejects.toMatchObject({ details: [{ field: 'password' }] });
  });

  it('distinguish an unavailable database from an invalid password', async () => {
    const other = await openAccountsApp(suite.database.config);
    await other.get(DataSource).destroy();
    const failing = other.get(AccountsService).verifyPassword('sign-in@example.com', PASSWORD);
    await expect(failing).rejects.toMatchObject({ code: 'unavailable' });
    await other.close();
  });
});

describe.each(await testEngines())('the first run on $name', (engine) => {
  let database: TestDatabase;
  let apps: INestApplicationContext[];

  beforeAll(async () => {
    database = await engine.create();
    apps = await Promise.all([1, 2].map(() => openAccountsApp(database.config, { tiers: [PRO] })));
  });
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await database.drop();
  });

  it('makes one account that can sign in and one key, also when two processes start at once', async () => {
    const [app] = apps as [INestApplicationContext];
    const made = await Promise.all(apps.map((each) => each.get(DevelopmentAccounts).ensureDevelopmentAccount()));
    const [account, ...more] = made.filter((each) => each !== undefined);
    expect(more).toEqual([]);
    const { email, password, key } = account ?? { email: '', password: '', key: '' };
    await expect(app.get(AccountsService).verifyPassword(email, password ?? '')).resolves.toMatchObject({ email });
    await expect(app.get(ApiKeyVerifier).verify(key)).resolves.toMatchObject({ name: 'first start' });
  });

  it('does nothing when there is an account', async () => {
    const [app] = apps as [INestApplicationContext];
    await expect(app.get(DevelopmentAccounts).ensureDevelopmentAccount()).resolves.toBeUndefined();
  });
});
