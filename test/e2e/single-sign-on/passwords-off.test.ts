import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountRoles } from '../../../src/accounts/accounts/account-roles.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { DevelopmentAccounts } from '../../../src/accounts/accounts/development-account.js';
import { ADA, AS_BROWSER, signOn, signOnStage, type SignOnStage } from '../../support/single-sign-on/sign-on-stage.js';
import { PASSWORD } from '../../support/usual-password.js';

describe('with PASSWORDS=off', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage({ env: { PASSWORDS: 'off', SIGN_UP: 'open' } });
  });
  afterAll(() => stage.stop());

  const accounts = () => stage.service.app.get(AccountsService, { strict: false });

  it('no form and no route for a password exists', async () => {
    const browser = stage.browser();
    const page = await (await browser.get('/sign-in', AS_BROWSER)).body();
    expect(page).toContain('Continue with single sign-on');
    expect(page).not.toMatch(/password|sign-up/i);
    expect((await browser.get('/', AS_BROWSER)).status).toBe(200);
    expect(await (await browser.get('/', AS_BROWSER)).body()).not.toContain('/sign-up');
    expect((await browser.get('/sign-up')).status).toBe(404);
    expect((await browser.signUp()).status).toBe(404);
    expect((await browser.signIn()).status).toBe(404);

    await signOn(stage, browser);
    const account = await accounts().get(ADA.email);
    expect(await (await browser.get('/settings/account')).body()).not.toContain('password');
    const change = { account_id: account.id, current_password: PASSWORD, new_password: 'another password' };
    expect((await browser.post('/settings/account/password', change)).status).toBe(404);
  });

  it('an operator creates accounts without a password, which belong to the first person with the address, and no links', async () => {
    const browser = stage.browser();
    await signOn(stage, browser, { sub: 'boss', email: 'boss@example.com' });
    const boss = await accounts().get('boss@example.com');
    await stage.service.app.get(AccountRoles, { strict: false }).set({ id: boss.id }, 'operator');
    const operator = stage.browser();
    await signOn(stage, operator, { sub: 'boss' });

    const list = await (await operator.get('/operator/accounts')).body();
    expect(list).toContain('New account');
    expect(list).not.toContain('/operator/invitations');
    const token = 'a'.repeat(43);
    for (const path of ['/operator/invitations/new', `/invitation/${token}`, `/reset-password/${token}`]) {
      expect(await (await operator.get(path)).body()).toContain('This path does not exist.');
    }

    expect(await (await operator.get('/operator/accounts/new')).body()).not.toContain('Password');
    await operator.post('/operator/accounts/new', {
      account_id: boss.id,
      email: 'new@example.com',
      password: PASSWORD,
    });
    const { id } = await accounts().get('new@example.com');
    expect(await (await operator.get(`/operator/accounts/${id}`)).body()).not.toContain('Reset password');
    expect((await operator.get(`/operator/accounts/${id}/password`)).status).toBe(404);
    const reset = { account_id: boss.id, password: PASSWORD };
    expect((await operator.post(`/operator/accounts/${id}/password`, reset)).status).toBe(404);

    const person = stage.browser();
    await signOn(stage, person, { sub: 'new', email: 'new@example.com', email_verified: true });
    expect(await person.email()).toBe('new@example.com');
    expect((await accounts().get('new@example.com')).id).toBe(id);
  });

  it('no password is set or correct, whatever asks for it', async () => {
    await expect(accounts().create({ email: 'p@example.com', password: PASSWORD })).rejects.toMatchObject({
      details: [{ field: 'password', message: expect.stringContaining('PASSWORDS=off') as string }],
    });
    await expect(accounts().setPassword(ADA.email, PASSWORD)).rejects.toMatchObject({ code: 'invalid_request' });
    await expect(accounts().verifyPassword(ADA.email, PASSWORD)).resolves.toBeUndefined();
  });
});

describe('with PASSWORDS=off, at the first start', () => {
  it('the development account has a key, but no password', async () => {
    const empty = await signOnStage({ env: { PASSWORDS: 'off' } });
    const development = empty.service.app.get(DevelopmentAccounts, { strict: false });
    await expect(development.ensureDevelopmentAccount()).resolves.toMatchObject({ password: undefined });
    await empty.stop();
  });
});
