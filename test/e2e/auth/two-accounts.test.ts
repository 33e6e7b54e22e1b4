import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { signedIn, type AccountSession } from '../../support/account-session.js';
import { answering } from '../../support/scripts.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { wireOf } from '../../support/wire.js';

describe('a page whose browser has signed in to another account since', () => {
  let stage: Stage;
  let ada: AccountSession;
  let bob: AccountSession;

  beforeAll(async () => {
    stage = await setStage();
    stage.provider.answers(answering('Hi'));
    ada = await signedIn(stage.service);
    bob = await signedIn(stage.service);
  });
  afterAll(() => stage.clear());

  const headersOf = ({ cookie }: AccountSession, boundAccountId?: string) => ({
    cookie: `${cookie.name}=${cookie.value}`,
    origin: stage.origin,
    ...(boundAccountId === undefined ? {} : { 'x-account-id': boundAccountId }),
  });
  const formAs = (person: AccountSession, path: string, fields: Readonly<Record<string, string>>) =>
    stream(stage.origin, {
      path,
      body: new URLSearchParams(fields).toString(),
      headers: {
        ...headersOf(person),
        'content-type': 'application/x-www-form-urlencoded',
        accept: 'text/html',
      },
    });

  it('gets 409 for a stream, and no request to a provider is sent', async () => {
    const calls = stage.provider.calls.length;
    const answer = await stream(stage.origin, { headers: headersOf(bob, ada.accountId) });
    expect(answer.status).toBe(409);
    const { code, message } = await answer.error();
    expect(code).toBe('account_mismatch');
    expect(message).toContain(bob.email);
    expect(message).not.toContain(ada.email);
    expect(stage.provider.calls).toHaveLength(calls);
  });

  it.each([
    ['the account that is signed in', () => bob.accountId],
    ['no account', () => undefined],
  ])('is a page as before when it names %s', async (_, boundAccountId) => {
    const answer = await openStream(stage.origin, { headers: headersOf(bob, boundAccountId()) });
    expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'done' });
  });

  it('does not concern API keys', async () => {
    const headers = { authorization: `Bearer ${stage.key}`, 'x-account-id': ada.accountId };
    expect(await wireOf(await openStream(stage.origin, { headers }))).toMatchObject({ text: 'Hi', terminal: 'done' });
  });

  it('makes no key for the other account', async () => {
    const form = await formAs(bob, '/settings/api-keys', { name: 'laptop', account_id: ada.accountId });
    expect(form.status).toBe(409);
    expect(await form.body()).toContain(bob.email);
    const list = await stream(stage.origin, { method: 'GET', path: '/settings/api-keys', headers: headersOf(bob) });
    expect(await list.body()).toContain('No keys yet.');
    const own = await formAs(bob, '/settings/api-keys', { name: 'laptop', account_id: bob.accountId });
    expect(own.status).toBe(201);
  });

  it('makes no key by a form that names no account', async () => {
    const form = await formAs(bob, '/settings/api-keys', { name: 'phone' });
    expect([form.status, await form.body()]).toEqual([400, expect.stringContaining('see account_id')]);
  });

  it.each(['revoke', 'rotate'])('cannot %s a key of the other account', async (action) => {
    const keys = stage.service.app.get(ApiKeysService, { strict: false });
    const { id } = await keys.create(bob.accountId, { name: action });
    const before = await keys.list(bob.accountId);
    const form = await formAs(bob, `/settings/api-keys/${id}/${action}`, { account_id: ada.accountId });
    expect(form.status).toBe(409);
    expect(await form.body()).toContain(bob.email);
    expect(await keys.list(bob.accountId)).toEqual(before);
  });

  it('changes no password of the other account', async () => {
    const fields = { current_password: 'correct horse battery', new_password: 'eight blue parrots' };
    const form = await formAs(bob, '/settings/account/password', { ...fields, account_id: ada.accountId });
    expect(form.status).toBe(409);
    const accounts = stage.service.app.get(AccountsService, { strict: false });
    for (const { email } of [ada, bob]) {
      expect(await accounts.verifyPassword(email, 'eight blue parrots')).toBeUndefined();
    }
    expect((await openStream(stage.origin, { headers: headersOf(bob, bob.accountId) })).status).toBe(200);
  });
});
