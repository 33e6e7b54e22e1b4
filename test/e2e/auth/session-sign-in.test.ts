import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { getRepositoryToken } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { Session } from '../../../src/accounts/sessions/session.entity.js';
import { SessionsService } from '../../../src/accounts/sessions/sessions.service.js';
import { Latch } from '../../support/latch.js';
import { answering, beginning } from '../../support/scripts.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { get, openStream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { waitFor } from '../../support/wait-for.js';
import { COOKIE_NAME, EMAIL, WebClient } from '../../support/web-client.js';
import { wireOf } from '../../support/wire.js';
import { PASSWORD } from '../../support/usual-password.js';

const THIRTY_DAYS_SECONDS = 2_592_000;

describe('signing in', () => {
  let stage: Stage;
  let ada: WebClient;
  const clientOf = () => new WebClient(stage.origin);
  const signedIn = async () => {
    const client = clientOf();
    expect((await client.signIn()).status).toBe(303);
    return client;
  };

  beforeAll(async () => {
    stage = await setStage(1, { modules: [SignInPagesModule] });
    ada = clientOf();
    expect((await ada.signUp()).status).toBe(303);
  });
  afterAll(() => stage.clear());

  it('is for the address in any spelling', async () => {
    const client = clientOf();
    await client.signIn(' ADA@Example.COM ');
    expect(await client.email()).toBe(EMAIL);
  });

  it('begins a session that pages and the API take', async () => {
    const client = await signedIn();
    stage.provider.answers(answering('Hi'));
    const answer = await openStream(stage.origin, { headers: client.asScript });
    expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'done' });
    expect((await client.get('/private')).status).toBe(200);
  });

  it('keeps no token, only its hash', async () => {
    const client = await signedIn();
    const sessions = stage.service.app.get<Repository<Session>>(getRepositoryToken(Session), { strict: false });
    const rows = await sessions.find();
    expect(rows.length).toBeGreaterThan(0);
    expect(JSON.stringify(rows)).not.toContain(client.token);
  });

  it('accepts no token that was there before, and ends its session', async () => {
    const client = await signedIn();
    const before = client.cookie;
    await client.signIn();
    expect(client.cookie).not.toBe(before);
    expect((await get(stage.origin, '/private', { cookie: before ?? '' })).status).toBe(401);
    const planted = `${COOKIE_NAME}=${'a'.repeat(43)}`;
    client.cookie = planted;
    await client.signIn();
    expect(client.cookie).not.toBe(planted);
    expect((await get(stage.origin, '/private', { cookie: planted })).status).toBe(401);
  });

  it('ends on the server when signing out, and no other session with it', async () => {
    const client = await signedIn();
    const { cookie = '' } = client;
    const answer = await client.post('/sign-out');
    expect(answer.headers['set-cookie']?.[0]).toMatch(/^__Host-session=; Max-Age=0; Path=\/; Secure; HttpOnly;/);
    expect((await get(stage.origin, '/private', { cookie })).status).toBe(401);
    expect(await ada.email()).toBe(EMAIL);
    expect((await clientOf().post('/sign-out')).status).toBe(303);
  });

  it('ends all sessions when the password changes, and goes on in a new one', async () => {
    const [client, other] = [clientOf(), clientOf()];
    await client.signUp('grace@example.com');
    await other.signIn('grace@example.com');
    const before = client.cookie ?? '';

    const next = 'another horse battery';
    expect((await client.post('/password', { current: PASSWORD, next })).status).toBe(303);

    expect(await client.email()).toBe('grace@example.com');
    expect(await other.email()).toBeNull();
    expect((await get(stage.origin, '/private', { cookie: before })).status).toBe(401);
    expect((await clientOf().signIn('grace@example.com')).status).toBe(401);
    expect((await clientOf().signIn('grace@example.com', next)).status).toBe(303);
  });

  it('accepts a password as typed on another system, and of any length', async () => {
    const client = clientOf();
    await client.signUp('unicode@example.com', 'ｐａｓｓ　ｗörd é 🔑');
    expect((await clientOf().signIn('unicode@example.com', 'pass wörd e\u0301 🔑')).status).toBe(303);
    expect((await clientOf().signIn('unicode@example.com', 'x'.repeat(60_000))).status).toBe(401);
    const long = 'long words '.repeat(93).trim();
    expect((await clientOf().signUp('long@example.com', long)).status).toBe(303);
    expect((await clientOf().signIn('long@example.com', long)).status).toBe(303);
    expect((await clientOf().signIn('long@example.com', long.slice(0, -1))).status).toBe(401);
  });

  it('answers alike for an unknown address, a wrong password, a disabled account and what is no address', async () => {
    const { id } = await stage.service.app
      .get(AccountsService, { strict: false })
      .create({ email: 'disabled@example.com', password: PASSWORD });
    await stage.service.app.get(AccountStates, { strict: false }).disable({ id });
    const answers = [];
    for (const [email, password] of [
      ['nobody@example.com', PASSWORD],
      [EMAIL, 'wrong horse battery'],
      ['disabled@example.com', PASSWORD],
      ['no address', PASSWORD],
      ['nul\0@example.com', PASSWORD],
      [EMAIL, ''],
    ] as const) {
      const answer = await clientOf().signIn(email, password);
      const { code, message } = await answer.error();
      answers.push({ status: answer.status, code, message, cookies: answer.headers['set-cookie'] });
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 401, code: 'unauthenticated', cookies: undefined });
  });

  it('ends the streams of the session, with the error that the contract has for the client', async () => {
    const client = await signedIn();
    stage.provider.answers(beginning('Hi'));
    const answer = await openStream(stage.origin, { headers: client.asScript });
    await answer.block(1);
    await client.post('/sign-out');
    expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'key_revoked' });
  });

  it('fails if the password changes between the comparison and the session', async () => {
    const [accounts, sessions] = [AccountsService, SessionsService].map((type) =>
      stage.service.app.get<AccountsService | SessionsService>(type, { strict: false }),
    ) as [AccountsService, SessionsService];
    await clientOf().signUp('racing@example.com');
    const latch = new Latch();
    const create = sessions.create.bind(sessions);
    const made = vi.spyOn(sessions, 'create').mockImplementation(async (accountId) => {
      await latch.opened;
      return create(accountId);
    });
    const client = clientOf();
    const answer = client.signIn('racing@example.com');
    await waitFor(() => made.mock.calls.length === 1, 'the password to be compared');
    const account = await accounts.findByEmail('racing@example.com');
    await accounts.changePassword(account?.id ?? '', PASSWORD, 'another horse battery', { network: '' });

    latch.open();

    expect((await answer).status).toBe(401);
    expect(client.cookie).toBeUndefined();
    expect(await client.email()).toBeNull();
    made.mockRestore();
    const rows = stage.service.app.get<Repository<Session>>(getRepositoryToken(Session), { strict: false });
    expect(await rows.countBy({ accountId: account?.id ?? '' })).toBe(0);
  });

  describe('with the session cookie, which', () => {
    it('is set exactly as the contract has it, and is not cached', async () => {
      const answer = await new WebClient(stage.origin).signIn();
      const [cookie = '', ...others] = answer.headers['set-cookie'] ?? [];
      const [pair = '', ...attributes] = cookie.split('; ');
      expect(others).toEqual([]);
      expect(pair).toMatch(/^__Host-session=[\w-]{43}$/);
      const age = Number(attributes.shift()?.slice('Max-Age='.length));
      expect(age).toBeGreaterThan(THIRTY_DAYS_SECONDS - 10);
      expect(age).toBeLessThanOrEqual(THIRTY_DAYS_SECONDS);
      expect(attributes.sort()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Lax', 'Secure']);
      expect(answer.headers['cache-control']).toBe('no-store');
    });

    it.each([
      ['twice', (token: string) => `${COOKIE_NAME}=${token}; ${COOKIE_NAME}=${token}`],
      ['of another name', (token: string) => `session=${token}; x${COOKIE_NAME}=${token}`],
      ['of a longer name', (token: string) => `${COOKIE_NAME}2=${token}`],
      ['with its name in small letters', (token: string) => `${COOKIE_NAME.toLowerCase()}=${token}`],
      ['with a space before its name that browsers do not know', (token: string) => `\u00a0${COOKIE_NAME}=${token}`],
      ['that is too long', (token: string) => `${COOKIE_NAME}=${token}a`],
      ['that is empty', () => `${COOKIE_NAME}=`],
    ])('is none %s', async (_, cookieOf) => {
      const cookie = cookieOf(ada.token ?? '');
      expect((await get(stage.origin, '/private', { cookie })).status).toBe(401);
    });

    it('is found among other cookies', async () => {
      const cookie = `theme=dark;${ada.cookie ?? ''} ; other=1`.replace(' ;', ';');
      expect((await get(stage.origin, '/private', { cookie })).status).toBe(200);
    });

    it('does not matter to a request with an API key, good or not', async () => {
      const headers = { cookie: ada.cookie ?? '' };
      const answer = await get(stage.origin, '/api/v1/me', { ...headers, authorization: `Bearer ${stage.key}` });
      expect(JSON.parse(await answer.body())).toEqual({ kind: 'api_key' });
      expect((await get(stage.origin, '/api/v1/me', { ...headers, authorization: 'Bearer nonsense' })).status).toBe(
        401,
      );
      const refused = await get(stage.origin, '/private', { ...headers, authorization: `Bearer ${stage.key}` });
      expect((await refused.error()).code).toBe('forbidden');
    });
  });
});
