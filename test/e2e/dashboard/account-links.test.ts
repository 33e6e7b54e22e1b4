import { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { AccountStates } from '../../../src/accounts/accounts/account-states.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { PasswordHashing } from '../../../src/accounts/passwords/password-hashing.js';
import { operatorSignedIn, signedIn, type AccountSession } from '../../support/account-session.js';
import { browserOf } from '../../support/as-browser.js';
import { browserClient } from '../../support/browser-client.js';
import { testEngines, urlOf, type TestDatabase } from '../../support/database.js';
import { startService, type RunningService } from '../../support/service.js';
import type { WebClient } from '../../support/web-client.js';

const PASSWORD = 'correct horse battery';
const PUBLIC_URL = 'https://chat.example.com';
const OTHER_PASSWORD = 'another horse battery';
const LIST = '/operator/accounts';

describe.each(await testEngines())('the one-time links of operators on $name', (engine) => {
  let database: TestDatabase;
  let service: RunningService;
  let operator: AccountSession;
  let client: WebClient;
  let addresses = 0;
  let email: string;

  beforeAll(async () => {
    database = await engine.create();
    const url = urlOf(database);
    service = await startService({
      env: { DATABASE_URL: url, SIGN_UP: 'closed', PUBLIC_URL },
      tiers: { free: {}, pro: {} },
    });
    operator = await operatorSignedIn(service);
    client = browserOf(service.origin, operator);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
  });
  beforeEach(() => {
    email = `invited-${++addresses}@example.com`;
  });

  const get = <T>(type: abstract new (...args: never[]) => T): T => service.app.get<T>(type, { strict: false });
  const change = async (path: string, fields: Readonly<Record<string, string>> = {}) =>
    client.post(path, { account_id: operator.accountId, ...fields });
  /** The path of the link, which begins with PUBLIC_URL, whatever address the operator uses. */
  const linkIn = (html: string) => {
    const [, origin, path = ''] = /<code id="new-link">(https?:\/\/[^/]*)(\/[^<]*)/.exec(html) ?? [];
    expect(origin).toBe(PUBLIC_URL);
    return path;
  };
  const invite = async (fields: Readonly<Record<string, string>> = {}) => {
    const answer = await change('/operator/invitations/new', {
      email,
      tier: 'free',
      role: 'member',
      days: '7',
      ...fields,
    });
    const html = await answer.body();
    expect([answer.status, html]).toEqual([201, expect.stringContaining('shown only once')]);
    return linkIn(html);
  };
  const resetLink = async (accountId: string) => {
    const answer = await change(`${LIST}/${accountId}/password`);
    expect(answer.status).toBe(201);
    return linkIn(await answer.body());
  };
  const use = async (link: string, password = PASSWORD) => {
    const visitor = browserClient(service.origin);
    return { visitor, answer: await visitor.post(link, { password }) };
  };
  const expectSignedIn = async (visitor: WebClient, address: string) => {
    expect(await (await visitor.get('/usage')).body()).toContain(`<span class="email">${address}</span>`);
  };
  const signsIn = async (password: string, address: string) =>
    (await get(AccountsService).verifyPassword(address, password)) !== undefined;

  describe('an invitation', () => {
    it('creates the account with its address, tier and role, although sign-up is closed, and signs in', async () => {
      const link = await invite({ tier: 'pro', role: 'operator' });
      const page = await (await browserClient(service.origin).get(link)).body();
      expect(page).toContain(email);
      const { visitor, answer } = await use(link);
      expect([answer.status, answer.headers.location]).toEqual([303, '/']);
      await expectSignedIn(visitor, email);
      expect(await get(AccountsService).findByEmail(email)).toMatchObject({ tier: 'pro', role: 'operator' });
      expect(await signsIn(PASSWORD, email)).toBe(true);
    });

    it('works once, also for two browsers at the same time, and opening the page does not use it', async () => {
      const link = await invite();
      for (let count = 0; count < 3; count++) expect((await browserClient(service.origin).get(link)).status).toBe(200);
      const answers = await Promise.all([use(link), use(link, OTHER_PASSWORD), use(link)]);
      expect(answers.filter(({ answer }) => answer.status === 303)).toHaveLength(1);
      const again = await use(link);
      expect(again.answer.status).toBe(404);
      expect(await again.answer.body()).toContain('This link is no longer valid.');
    });

    it('keeps working after a password that is not accepted', async () => {
      const link = await invite();
      const { answer } = await use(link, 'password');
      expect(answer.status).toBe(400);
      expect(await answer.body()).toContain('This password is too common.');
      expect((await use(link)).answer.status).toBe(303);
    });

    it('expires, and is then no longer listed', async () => {
      const link = await invite({ days: '1' });
      expect(await (await client.get(LIST)).body()).toContain(email);
      const before = new Date(Date.now() - 1000).toISOString();
      await get(DataSource).query(`UPDATE one_time_links SET expires_at = '${before}' WHERE email = '${email}'`);
      expect((await browserClient(service.origin).get(link)).status).toBe(404);
      expect((await use(link)).answer.status).toBe(404);
      expect(await (await client.get(LIST)).body()).not.toContain(email);
      // A new invitation removes the expired ones.
      const next = await invite({ email: `next-${email}` });
      const rows = await get(DataSource).query<object[]>(`SELECT id FROM one_time_links WHERE email = '${email}'`);
      expect(rows).toEqual([]);
      expect((await use(next)).answer.status).toBe(303);
    });

    it('is revoked by its button, and then refused', async () => {
      const link = await invite();
      const row = (await (await client.get(LIST)).body()).split('<tr role="row"').find((each) => each.includes(email));
      const path = /action="(\/operator\/invitations\/[^"]*\/revoke)"/.exec(row ?? '')?.[1] ?? '';
      const answer = await change(path);
      expect(answer.headers.location).toBe(`${LIST}?done=invitation-revoked`);
      expect((await use(link)).answer.status).toBe(404);
      expect((await change(path)).status).toBe(303);
    });

    it('is replaced by a new one for the same address', async () => {
      const first = await invite();
      const second = await invite({ email: email.toUpperCase(), tier: 'pro' });
      expect((await use(first)).answer.status).toBe(404);
      expect((await use(second)).answer.status).toBe(303);
      expect(await get(AccountsService).findByEmail(email)).toMatchObject({ tier: 'pro' });
    });

    it('is not created for an address with an account, or with invalid fields', async () => {
      const answer = await change('/operator/invitations/new', { email: operator.email });
      expect([answer.status, await answer.body()]).toEqual([400, expect.stringContaining('already exists')]);
      const invalid = await change('/operator/invitations/new', { email: 'nobody', tier: 'gold' });
      const html = await invalid.body();
      expect(invalid.status).toBe(400);
      expect(html).toContain('not a valid email address');
      expect(html).toContain('There is no tier');
    });

    it('does not create a second account when the address got one meanwhile', async () => {
      const link = await invite();
      await get(AccountsService).create({ email, password: OTHER_PASSWORD });
      const { answer } = await use(link);
      expect([answer.status, await answer.body()]).toEqual([400, expect.stringContaining('already exists')]);
      expect(await signsIn(PASSWORD, email)).toBe(false);
    });

    it('replaces the session of the browser, which then ends', async () => {
      const member = await signedIn(service);
      const browser = browserOf(service.origin, member);
      const { cookie } = browser;
      await browser.post(await invite(), { password: PASSWORD });
      await expectSignedIn(browser, email);
      const old = browserClient(service.origin);
      old.cookie = cookie;
      expect((await old.get('/usage')).status).not.toBe(200);
    });
  });

  describe('a link for a new password', () => {
    it('sets the password that the user chooses, ends all sessions, and signs in', async () => {
      const person = await signedIn(service);
      const link = await resetLink(person.accountId);
      expect(await signsIn(PASSWORD, person.email)).toBe(true);
      const { visitor, answer } = await use(link, OTHER_PASSWORD);
      expect(answer.status).toBe(303);
      await expectSignedIn(visitor, person.email);
      expect((await browserOf(service.origin, person).get('/usage')).status).toBe(303);
      expect([await signsIn(PASSWORD, person.email), await signsIn(OTHER_PASSWORD, person.email)]).toEqual([
        false,
        true,
      ]);
    });

    it('works once, also for two browsers at the same time', async () => {
      const person = await signedIn(service);
      const link = await resetLink(person.accountId);
      const answers = await Promise.all([use(link, OTHER_PASSWORD), use(link, `${OTHER_PASSWORD} 2`)]);
      expect(answers.filter(({ answer }) => answer.status === 303)).toHaveLength(1);
      expect((await use(link)).answer.status).toBe(404);
    });

    it('ends with each other change of the password, with the account, and when the account is disabled', async () => {
      const person = await signedIn(service);
      const link = await resetLink(person.accountId);
      await get(AccountsService).setPassword(person.email, OTHER_PASSWORD);
      expect((await use(link)).answer.status).toBe(404);
      const second = await resetLink(person.accountId);
      await get(AccountStates).disable({ id: person.accountId });
      expect((await use(second)).answer.status).toBe(404);
      await get(AccountStates).delete({ id: person.accountId });
      expect((await use(second)).answer.status).toBe(404);
      expect(await get(DataSource).query(`SELECT * FROM one_time_links WHERE kind = 'password_reset'`)).toEqual([]);
    });

    it('stays ended when the account is enabled again', async () => {
      const person = await signedIn(service);
      const link = await resetLink(person.accountId);
      await change(`${LIST}/${person.accountId}/disable`);
      await change(`${LIST}/${person.accountId}/enable`);
      expect((await use(link, OTHER_PASSWORD)).answer.status).toBe(404);
      expect(await signsIn(PASSWORD, person.email)).toBe(true);
    });

    it('is shown on the page of the account until it expires or is revoked, and replaces an earlier link', async () => {
      const person = await signedIn(service);
      const path = `${LIST}/${person.accountId}`;
      const page = async () => (await client.get(path)).body();
      expect(await page()).not.toContain('Link for a new password');
      const first = await resetLink(person.accountId);
      const second = await resetLink(person.accountId);
      expect((await use(first)).answer.status).toBe(404);
      expect(await page()).toContain('Link for a new password');
      expect((await change(`${path}/password/revoke`)).headers.location).toBe(`${path}?done=link-revoked`);
      expect((await use(second)).answer.status).toBe(404);
      expect(await page()).not.toContain('Link for a new password');
      const third = await resetLink(person.accountId);
      const before = new Date(Date.now() - 1000).toISOString();
      await get(DataSource).query(`UPDATE one_time_links SET expires_at = '${before}'`);
      expect((await use(third)).answer.status).toBe(404);
      expect(await page()).not.toContain('Link for a new password');
    });

    it('is not for the own account, and only operators create one', async () => {
      expect((await change(`${LIST}/${operator.accountId}/password`)).status).toBe(403);
      const member = await signedIn(service);
      const answers = [
        await browserOf(service.origin, member).post(`${LIST}/${operator.accountId}/password`, {}),
        await browserOf(service.origin, member).post('/operator/invitations/new', { email }),
        await browserOf(service.origin, member).get('/operator/invitations/new'),
      ];
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
    });
  });

  describe('that end while the password is hashed', () => {
    /** Runs the statement in the middle of the next request that sets a password. */
    const whileHashing = (sql: string) => {
      const passwords = get(PasswordHashing);
      const hash = passwords.hash.bind(passwords);
      const spy = vi.spyOn(passwords, 'hash').mockImplementationOnce(async (password, network) => {
        const hashed = await hash(password, network);
        await get(DataSource).query(sql);
        return hashed;
      });
      return () => {
        spy.mockRestore();
      };
    };
    const past = new Date(Date.now() - 1_000).toISOString();

    it.each([
      ['expires', `UPDATE one_time_links SET expires_at = '${past}'`],
      ['is revoked', 'DELETE FROM one_time_links'],
      ['is replaced', `UPDATE one_time_links SET hashed_token = id`],
    ])('create no account: an invitation that %s', async (_, sql) => {
      const link = await invite({ role: 'operator' });
      const restore = whileHashing(sql);
      const { answer } = await use(link);
      restore();
      expect([answer.status, await answer.body()]).toEqual([404, expect.stringContaining('no longer valid')]);
      expect(await get(AccountsService).findByEmail(email)).toBeUndefined();
    });

    it.each([
      ['expires', `UPDATE one_time_links SET expires_at = '${past}'`],
      ['is revoked', 'DELETE FROM one_time_links'],
      ['is replaced', `UPDATE one_time_links SET hashed_token = id`],
      ['has a disabled account', `UPDATE accounts SET disabled_at = '${past}' WHERE role = 'member'`],
    ])('set no password: a link that %s', async (_, sql) => {
      const person = await signedIn(service);
      const link = await resetLink(person.accountId);
      const restore = whileHashing(sql);
      const { answer } = await use(link, OTHER_PASSWORD);
      restore();
      expect(answer.status).toBe(404);
      await get(AccountStates).enable({ id: person.accountId });
      expect([await signsIn(PASSWORD, person.email), await signsIn(OTHER_PASSWORD, person.email)]).toEqual([
        true,
        false,
      ]);
    });
  });

  it('have no token in the database', async () => {
    const token = (await invite()).split('/').at(-1) ?? '';
    const person = await signedIn(service);
    const resetToken = (await resetLink(person.accountId)).split('/').at(-1) ?? '';
    const rows = JSON.stringify(await get(DataSource).query('SELECT * FROM one_time_links'));
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(rows).not.toContain(token);
    expect(rows).not.toContain(resetToken);
  });

  it('cannot be used by a form of another site', async () => {
    const link = await invite();
    const answer = await browserClient(service.origin).post(
      link,
      { password: PASSWORD },
      { origin: 'https://evil.example' },
    );
    expect(answer.status).toBe(403);
    expect(await get(AccountsService).findByEmail(email)).toBeUndefined();
  });

  it('are looked up only so often for a network that has no valid link', async () => {
    const path = (count: number) => `/invitation/${String(count).padStart(43, 'a')}`;
    const statuses: number[] = [];
    for (let count = 0; count < 60; count++)
      statuses.push((await browserClient(service.origin).get(path(count))).status);
    expect(statuses.at(-1)).toBe(429);
    expect(statuses[0]).toBe(404);
  });
});
