import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { CLIENT_ID } from '../../support/single-sign-on/scripted-issuer.js';
import {
  ADA,
  AS_BROWSER,
  signOn,
  signOnStage,
  START,
  startSignOn,
  type SignOnStage,
} from '../../support/single-sign-on/sign-on-stage.js';

describe('single sign-on', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage();
  });
  afterAll(() => stage.stop());
  afterEach(() => {
    stage.issuer.idToken = {};
    stage.issuer.userInfo = {};
    stage.issuer.instead.clear();
  });

  const accountOf = (email: string) => stage.service.app.get(AccountsService, { strict: false }).findByEmail(email);

  it('sends the browser to the issuer with PKCE, state and nonce, and keeps nothing but a cookie', async () => {
    const browser = stage.browser();
    const answer = await browser.get(`${START}?next=/usage`, AS_BROWSER);

    expect(answer.status).toBe(303);
    const url = new URL(String(answer.headers.location));
    expect(`${url.origin}${url.pathname}`).toBe(`${stage.issuer.url}/auth`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: CLIENT_ID,
      response_type: 'code',
      scope: 'openid profile email',
      redirect_uri: `${stage.origin}${START}/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/) as string,
      nonce: expect.stringMatching(/^[\w-]{22}$/) as string,
    });
    expect(url.searchParams.get('state')).not.toContain('/usage');
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^__Host-session=sign-in\.[\w-]{43}; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/,
      ),
    ]);
  });

  it('gives a person an account and a session at the first sign-in, and the same account later', async () => {
    const [browser, other] = [stage.browser(), stage.browser()];
    const answer = await signOn(stage, browser);
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toBe('/playground');
    expect(await browser.email()).toBe(ADA.email);
    const { id } = (await accountOf(ADA.email)) ?? {};

    await signOn(stage, other, { ...ADA, email: 'new-name@example.com' });
    expect(await other.email()).toBe(ADA.email);
    expect(await accountOf('new-name@example.com')).toBeUndefined();
    expect((await accountOf(ADA.email))?.id).toBe(id);
  });

  it('opens the page that was asked for, and never a page of another host', async () => {
    const [browser, other] = [stage.browser(), stage.browser()];
    const here = await browser.get(
      stage.issuer.authorize(await startSignOn(browser, `${START}?next=/usage?days=7`), ADA),
    );
    expect(here.headers.location).toBe('/usage?days=7');
    const path = `${START}?next=${encodeURIComponent('//evil.example/x')}`;
    const elsewhere = await other.get(stage.issuer.authorize(await startSignOn(other, path), ADA));
    expect(elsewhere.headers.location).toBe('/playground');
  });

  it('takes claims from the UserInfo endpoint, but not the person', async () => {
    const [browser, other] = [stage.browser(), stage.browser()];
    stage.issuer.userInfo = { email: 'from-user-info@example.com', email_verified: true };
    await signOn(stage, browser, { sub: 'user-info' });
    expect(await browser.email()).toBe('from-user-info@example.com');

    stage.issuer.userInfo = { sub: 'somebody-else', email: 'else@example.com' };
    const answer = await signOn(stage, other, { sub: 'user-info-2' });
    expect(answer.status).toBe(403);
    expect(await other.email()).toBeNull();
  });

  it('uses the name of a person as the address if that is all, as Entra sends', async () => {
    const browser = stage.browser();
    await signOn(stage, browser, { sub: 'entra', preferred_username: 'Grace@Example.com' });
    expect(await browser.email()).toBe('grace@example.com');
  });

  it('explains to a person without an address why there is no account', async () => {
    const browser = stage.browser();
    const back = stage.issuer.authorize(await startSignOn(browser), { sub: 'nameless' });
    const answer = await browser.get(back, AS_BROWSER);
    expect(answer.status).toBe(403);
    const page = await answer.body();
    expect(page).toContain('did not send your email address');
    expect(page).toContain('href="/sign-in"');
  });

  it('gives one account to a person who finishes two sign-ins at the same time', async () => {
    const browsers = [stage.browser(), stage.browser(), stage.browser()];
    const person = { sub: 'twice', email: 'twice@example.com', email_verified: true };
    const answers = await Promise.all(browsers.map((browser) => signOn(stage, browser, person)));
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 303]);
    for (const browser of browsers) expect(await browser.email()).toBe('twice@example.com');
  });

  it('leads a browser that is signed in away from the sign-in', async () => {
    const browser = stage.browser();
    await signOn(stage, browser);
    const { cookie } = browser;
    expect((await browser.get(`${START}?next=/usage`)).headers.location).toBe('/usage');
    expect(browser.cookie).toBe(cookie);
  });

  it('works in two tabs of one browser: the tab that comes last is signed in already', async () => {
    const browser = stage.browser();
    const [one, two] = [await startSignOn(browser), await startSignOn(browser)];
    expect((await browser.get(stage.issuer.authorize(one, ADA))).headers.location).toBe('/playground');
    const { cookie } = browser;
    expect((await browser.get(stage.issuer.authorize(two, ADA))).headers.location).toBe('/playground');
    expect(browser.cookie).toBe(cookie);
    expect(await browser.email()).toBe(ADA.email);
  });

  it.each([
    ['has a character that no database stores', 'a\0b'],
    ['is too long', 'x'.repeat(2_000)],
  ])('refuses a person whose id %s', async (_, sub) => {
    const browser = stage.browser();
    expect((await signOn(stage, browser, { sub, email: 'odd@example.com' })).status).toBe(403);
    expect(await accountOf('odd@example.com')).toBeUndefined();
  });

  it('refuses a person whose account is disabled', async () => {
    const person = { sub: 'off', email: 'off@example.com', email_verified: true };
    await signOn(stage, stage.browser(), person);
    const { AccountStates } = await import('../../../src/accounts/accounts/account-states.js');
    await stage.service.app.get(AccountStates, { strict: false }).disable('off@example.com');
    const browser = stage.browser();
    const answer = await signOn(stage, browser, person);
    expect((await answer.error()).message).toBe('This account is disabled.');
    expect(await browser.email()).toBeNull();
  });

  it('shows the way to the issuer on the sign-in page', async () => {
    const page = await (await stage.browser().get('/sign-in?next=/usage', AS_BROWSER)).body();
    expect(page).toContain(`href="${stage.origin}${START}?next=%2Fusage"`);
    expect(page).toContain('Continue with single sign-on');
    expect(page).toContain('name="password"');
  });
});
