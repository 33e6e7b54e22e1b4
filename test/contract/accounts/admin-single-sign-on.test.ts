import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { ApiKeyVerifier } from '../../../src/accounts/api-keys/api-key-verifier.js';
import { PasswordResets } from '../../../src/accounts/links/password-resets.service.js';
import { IdentitiesService } from '../../../src/accounts/identities/identities.service.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { adminCommand } from '../../support/admin-command.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { PASSWORD } from '../../support/usual-password.js';
import { openAccountsApp } from './accounts-app.js';

const EMAIL = 'ada@example.com';
const ISSUER = {
  OIDC_ISSUER: 'https://login.example.com',
  OIDC_CLIENT_ID: 'chat',
  OIDC_CLIENT_SECRET: 'secret',
  PUBLIC_URL: 'https://chat.example.com',
};
const OFF = { ...ISSUER, PASSWORDS: 'off' };

describe.each(await testEngines())('the admin command with single sign-on, on $name', (engine) => {
  let database: TestDatabase;
  let app: Awaited<ReturnType<typeof openAccountsApp>>;

  beforeEach(async () => {
    database = await engine.create();
    app = await openAccountsApp(database.config);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  const admin = (env: Readonly<Record<string, string>>, ...words: string[]) => {
    const url = urlOf(database);
    return adminCommand({ DATABASE_URL: url, ...env }, words);
  };

  it('leaves an account to the first person with its address: no password, no link, no session, and no key if wanted', async () => {
    const { id } = await app.get(AccountsService).create({ email: EMAIL, password: PASSWORD });
    const { token } = await app.get(SessionsService).create(id);
    const { key } = await app.get(ApiKeysService).create(id, { name: 'laptop' });
    const person = { issuer: ISSUER.OIDC_ISSUER, subject: 'ada', email: undefined };
    const identities = app.get(IdentitiesService);
    await identities.link(person, id);
    const { token: resetToken } = await app.get(PasswordResets).create(id, 'operator');

    const outcome = await admin(ISSUER, 'account', 'single-sign-on', '--email', EMAIL);
    expect(outcome).toMatchObject({ exitCode: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toEqual({ id, email: EMAIL, tier: 'free' });
    await expect(app.get(AccountsService).verifyPassword(EMAIL, PASSWORD)).resolves.toBeUndefined();
    await expect(identities.accountOf(person)).resolves.toBeUndefined();
    await expect(app.get(PasswordResets).find(resetToken)).resolves.toBeUndefined();
    await expect(app.get(SessionsService).verify(token)).resolves.toBeUndefined();
    await expect(app.get(ApiKeyVerifier).verify(key)).resolves.toBeDefined();
    await expect(identities.linkPrepared(person, id)).resolves.toBe(true);

    const again = await admin(ISSUER, 'account', 'single-sign-on', '--email', EMAIL, '--revoke-keys');
    expect(JSON.parse(again.stdout)).toMatchObject({ revoked_keys: 1 });
  });

  it('refuses to, where nobody could sign in to the account afterwards', async () => {
    await app.get(AccountsService).create({ email: EMAIL, password: PASSWORD });
    const outcome = await admin({}, 'account', 'single-sign-on', '--email', EMAIL);
    expect(outcome).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'Set OIDC_ISSUER first, because nobody could sign in to the account.\n',
    });
    await expect(app.get(AccountsService).verifyPassword(EMAIL, PASSWORD)).resolves.toBeDefined();
    expect((await admin(ISSUER, 'account', 'single-sign-on', '--email', 'x@example.com')).stderr).toContain(
      'no account',
    );
  });

  it('creates accounts without a password with PASSWORDS=off, and says so to who has one', async () => {
    const created = await admin(OFF, 'account', 'create', '--email', EMAIL);
    expect(created).toMatchObject({ exitCode: 0, stderr: '' });
    const { id } = JSON.parse(created.stdout) as { id: string };
    const person = { issuer: ISSUER.OIDC_ISSUER, subject: 'ada', email: undefined };
    await expect(app.get(IdentitiesService).linkPrepared(person, id)).resolves.toBe(true);

    const leaveOut = 'Accounts have no passwords here (PASSWORDS=off). Leave the password out.\n';
    for (const words of [
      ['account', 'create', '--email', 'eve@example.com', '--password', PASSWORD],
      ['account', 'create', '--email', 'eve@example.com', '--password-stdin'],
      ['account', 'password', '--email', EMAIL, '--password', PASSWORD],
    ]) {
      expect(await admin(OFF, ...words)).toEqual({ exitCode: 1, stdout: '', stderr: leaveOut });
    }
    const outcome = await admin(OFF, 'account', 'password', '--email', EMAIL);
    expect(outcome.exitCode).toBe(1);
    expect(outcome.stderr).toContain('PASSWORDS=off');
    await expect(app.get(AccountsService).findByEmail('eve@example.com')).resolves.toBeUndefined();
  });
});
