import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiKeysService } from '../../../src/accounts/api-keys/api-keys.service.js';
import { AccountsService } from '../../../src/accounts/accounts/accounts.service.js';
import { ScriptedIssuer } from '../../support/single-sign-on/scripted-issuer.js';
import { ADA, LOGOUT, signOn, signOnStage, type SignOnStage } from '../../support/single-sign-on/sign-on-stage.js';
import { get, stream } from '../../support/sse-client.js';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const tell = (stage: SignOnStage, token: string, headers: Record<string, string> = {}) =>
  stream(stage.origin, {
    method: 'POST',
    path: LOGOUT,
    body: new URLSearchParams({ logout_token: token }).toString(),
    headers: { ...FORM, ...headers },
  });

describe('signing out', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage();
  });
  afterAll(() => stage.stop());

  it('also signs out of the issuer, on a page that works under the policy of the pages', async () => {
    const browser = stage.browser();
    await signOn(stage, browser);
    const answer = await browser.post('/sign-out', {}, { accept: 'text/html' });
    expect(answer.status).toBe(200);
    const page = await answer.body();
    const [, address = ''] = /<meta http-equiv="refresh" content="0; url=([^"]*)"/.exec(page) ?? [];
    const url = new URL(address.replaceAll('&amp;', '&'));
    expect(`${url.origin}${url.pathname}`).toBe(`${stage.issuer.url}/end`);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: 'chat',
      post_logout_redirect_uri: `${stage.origin}/sign-in`,
      id_token_hint: expect.stringMatching(/^ey/) as string,
    });
    expect(page).toContain('Signed out');
    expect(answer.headers['clear-site-data']).toBe('"storage"');
    expect(browser.cookie).toBeUndefined();
  });

  it('leads to the sign-in page when the session began with a password', async () => {
    const browser = stage.browser();
    await browser.signUp('password@example.com');
    expect((await browser.post('/sign-out')).headers.location).toBe('/sign-in');
  });
});

describe('a sign-out', () => {
  it('leads to the sign-in page when the issuer has no address for it', async () => {
    const other = await signOnStage();
    other.issuer.metadata = { end_session_endpoint: undefined };
    const person = other.browser();
    await signOn(other, person);
    expect((await person.post('/sign-out')).headers.location).toBe('/sign-in');
    await other.stop();
  });
});

describe('a back-channel logout', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage();
  });
  afterAll(() => stage.stop());

  const signedIn = async (claims: object) => {
    const browser = stage.browser();
    await signOn(stage, browser, { email: 'x', ...claims });
    expect(await browser.email()).not.toBeNull();
    return browser;
  };

  it('ends the session of the issuer that it names, and no other', async () => {
    const [one, two] = [await signedIn({ ...ADA, sid: 's1' }), await signedIn({ ...ADA, sid: 's2' })];
    const answer = await tell(stage, await stage.issuer.logoutToken({ sub: ADA.sub, sid: 's1' }));
    expect(answer.status).toBe(200);
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(await answer.body()).toBe('');
    expect(await one.email()).toBeNull();
    expect(await two.email()).toBe(ADA.email);

    expect((await tell(stage, await stage.issuer.logoutToken({ sid: 's2' }))).status).toBe(200);
    expect(await two.email()).toBeNull();
  });

  it('ends all sessions of a person, but not those that began with a password, and leaves the keys', async () => {
    const email = 'all@example.com';
    const [one, two] = [await signedIn({ sub: 'all', email }), await signedIn({ sub: 'all', email, sid: 's3' })];
    const other = await signedIn({ sub: 'other', email: 'other@example.com' });
    const local = stage.browser();
    await local.signUp('local@example.com');
    const { key } = await stage.service.createKey({ email });
    expect((await tell(stage, await stage.issuer.logoutToken({ sub: 'all' }, { typ: 'JWT' }))).status).toBe(200);
    expect([await one.email(), await two.email()]).toEqual([null, null]);
    expect(await other.email()).toBe('other@example.com');
    expect(await local.email()).toBe('local@example.com');
    expect((await stream(stage.origin, { key })).status).not.toBe(401);
  });

  it('has an effect once', async () => {
    const token = await stage.issuer.logoutToken({ sub: ADA.sub });
    expect((await tell(stage, token)).status).toBe(200);
    const browser = await signedIn(ADA);
    const answer = await tell(stage, token);
    expect(answer.status).toBe(400);
    expect((await answer.error()).message).toBe('The logout token was used already.');
    expect(await browser.email()).toBe(ADA.email);
  });

  it('of nobody who is known here is fine, too', async () => {
    expect((await tell(stage, await stage.issuer.logoutToken({ sub: 'unknown' }))).status).toBe(200);
  });

  it('is refused unless the issuer made it for this service, now, and as a logout', async () => {
    const browser = await signedIn(ADA);
    const { issuer } = stage;
    const now = Math.floor(Date.now() / 1000);
    const evil = await ScriptedIssuer.start();
    const wrong: Record<string, string> = {
      'no token': '',
      'no JWT': 'x.y.z',
      'too long': 'x'.repeat(20_000),
      'another signature': await evil.logoutToken({ sub: ADA.sub, iss: issuer.url }),
      'another audience': await issuer.logoutToken({ sub: ADA.sub, aud: 'another' }),
      'another issuer': await issuer.logoutToken({ sub: ADA.sub, iss: evil.url }),
      old: await issuer.logoutToken({ sub: ADA.sub, iat: now - 3_600, exp: now + 60 }),
      future: await issuer.logoutToken({ sub: ADA.sub, iat: now + 3_600, exp: now + 7_200 }),
      expired: await issuer.logoutToken({ sub: ADA.sub, exp: now - 3_600 }),
      'no time': await issuer.logoutToken({ sub: ADA.sub, iat: undefined }),
      'no id': await issuer.logoutToken({ sub: ADA.sub, jti: undefined }),
      'no event': await issuer.logoutToken({ sub: ADA.sub, events: undefined }),
      'another event': await issuer.logoutToken({ sub: ADA.sub, events: { 'https://example.com/event': {} } }),
      'an ID token': await issuer.logoutToken({ sub: ADA.sub, nonce: 'n' }),
      'another type': await issuer.logoutToken({ sub: ADA.sub }, { typ: 'at+jwt' }),
      nobody: await issuer.logoutToken({}),
      'an odd subject': await issuer.logoutToken({ sub: 'a\0b' }),
      'an odd session': await issuer.logoutToken({ sub: ADA.sub, sid: 7 }),
    };
    for (const [title, token] of Object.entries(wrong)) {
      const answer = await tell(stage, token);
      expect(answer.status, title).toBe(400);
      expect((await answer.error()).code, title).toBe('invalid_request');
    }
    await evil.stop();
    expect(await browser.email()).toBe(ADA.email);
    expect((await tell(stage, '', { origin: 'https://evil.example' })).status).toBe(403);
    expect((await stream(stage.origin, { method: 'POST', path: LOGOUT, body: '{}' })).status).toBe(415);
  });
});

describe('a back-channel logout with OIDC_LOGOUT_REVOKES_KEYS=on', () => {
  it.each([
    ['by the person', { sub: ADA.sub }],
    ['by the session of the issuer', { sid: 's1' }],
  ])('also revokes the keys of the account, found %s', async (_, claims) => {
    const stage = await signOnStage({ env: { OIDC_LOGOUT_REVOKES_KEYS: 'on' } });
    await signOn(stage, stage.browser(), { ...ADA, sid: 's1' });
    const { id, key } = await stage.service.createKey({ email: ADA.email });
    const { key: other } = await stage.service.createKey();
    const ended = await stage.service.createKey({ email: ADA.email });
    const apiKeys = stage.service.app.get(ApiKeysService, { strict: false });
    const { revokedAt: endedAt } = await apiKeys.revoke(ended.id);
    expect((await tell(stage, await stage.issuer.logoutToken(claims))).status).toBe(200);
    expect((await get(stage.origin, '/api/v1/usage', { authorization: `Bearer ${key}` })).status).toBe(401);
    expect((await get(stage.origin, '/api/v1/usage', { authorization: `Bearer ${other}` })).status).toBe(200);
    const account = await stage.service.app.get(AccountsService, { strict: false }).get(ADA.email);
    const revoked = new Map((await apiKeys.list(account.id)).map(({ id, revokedAt }) => [id, revokedAt]));
    expect(revoked).toEqual(new Map<string, unknown>().set(id, expect.any(Date)).set(ended.id, endedAt));
    await stage.stop();
  });
});

describe('the endpoint of back-channel logouts', () => {
  it('takes any number of valid logout tokens, and few invalid ones', async () => {
    const limited = await signOnStage();
    for (let count = 0; count < 60; count += 1) {
      expect((await tell(limited, await limited.issuer.logoutToken({ sub: 'x' }))).status).toBe(200);
    }
    const statuses = [];
    for (let count = 0; count < 51; count += 1) statuses.push((await tell(limited, 'x')).status);
    expect(statuses).toEqual([...Array.from({ length: 50 }, () => 400), 429]);
    await limited.stop();
  });

  it('takes a logout token again when the keys were unavailable', async () => {
    const fresh = await signOnStage();
    fresh.issuer.instead.set('/keys', (response) => response.writeHead(500).end());
    const token = await fresh.issuer.logoutToken({ sub: ADA.sub });
    expect((await tell(fresh, token)).status).toBe(503);
    fresh.issuer.instead.clear();
    await expect.poll(async () => (await tell(fresh, token)).status, { timeout: 15_000, interval: 100 }).toBe(200);
    await fresh.stop();
  });
});
