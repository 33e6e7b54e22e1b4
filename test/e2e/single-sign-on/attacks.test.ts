import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ReceivedStream } from '../../support/sse-client.js';
import {
  ADA,
  AS_BROWSER,
  signOn,
  signOnStage,
  START,
  startSignOn,
  type SignOnStage,
} from '../../support/single-sign-on/sign-on-stage.js';
import type { WebClient } from '../../support/web-client.js';

const HOUR = 3_600;

describe('single sign-on refuses', () => {
  let stage: SignOnStage;

  beforeAll(async () => {
    stage = await signOnStage();
  });
  afterAll(() => stage.stop());
  afterEach(() => {
    stage.issuer.idToken = {};
  });

  const expectRefused = async (answer: ReceivedStream, browser: WebClient, status: number): Promise<void> => {
    expect(answer.status).toBe(status);
    expect(await browser.email()).toBeNull();
  };
  const now = () => Math.floor(Date.now() / 1000);

  it('a callback in another browser than the one that started the sign-in, so that nobody signs others in', async () => {
    const [attacker, victim, started] = [stage.browser(), stage.browser(), stage.browser()];
    const back = stage.issuer.authorize(await startSignOn(attacker), ADA);
    await expectRefused(await victim.get(back), victim, 400);
    // The victim has a sign-in of its own in progress.
    await startSignOn(started);
    await expectRefused(await started.get(back), started, 400);
  });

  it('a callback that is sent a second time', async () => {
    const browser = stage.browser();
    const location = await startSignOn(browser);
    const back = stage.issuer.authorize(location, ADA);
    const { cookie } = browser;
    await browser.get(back);
    expect(await browser.email()).toBe(ADA.email);

    const again = stage.browser();
    again.cookie = cookie;
    const answer = await again.get(back);
    await expectRefused(answer, again, 400);
    expect((await answer.error()).message).toBe('This sign-in was used already, or has expired.');
  });

  it('a callback without a state, with a changed state, or with the state of another service', async () => {
    const browser = stage.browser();
    const location = await startSignOn(browser);
    const state = new URL(location).searchParams.get('state') ?? '';
    const changed = state.slice(0, -4) + (state.endsWith('AAAA') ? 'BBBB' : 'AAAA');
    for (const wrong of ['', changed, 'e30.e30.e30.e30.e30', 'x'.repeat(10_000)]) {
      await expectRefused(await browser.get(stage.issuer.authorize(location, ADA, { state: wrong })), browser, 400);
    }
    expect((await browser.get(`${START}/callback`)).status).toBe(400);
    expect((await browser.get(`${START}/callback?code=x&code=y&state=${state}&state=${state}`)).status).toBe(403);
  });

  it('the answer of another issuer (mix-up), and an answer that does not name its issuer', async () => {
    const browser = stage.browser();
    const tokenRequests = () => stage.issuer.requests.filter((path) => path === '/token').length;
    const before = tokenRequests();
    await expectRefused(await signOn(stage, browser, ADA, { iss: 'https://evil.example' }), browser, 403);
    const back = stage.issuer.authorize(await startSignOn(browser), ADA);
    await expectRefused(await browser.get(back.replace(/&iss=[^&]*/, '')), browser, 403);
    expect(tokenRequests()).toBe(before);
  });

  it.each([
    ['of another sign-in', { nonce: 'another' }],
    ['without a nonce', { nonce: undefined }],
    ['for another service', { aud: 'another' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['without a person', { sub: undefined }],
    ['that has expired', { exp: now() - HOUR }],
    ['that was issued long ago', { iat: now() - HOUR, exp: now() + HOUR }],
    ['of the future', { iat: now() + HOUR }],
    ['that is not valid yet', { nbf: now() + HOUR }],
  ])('an ID token %s', async (_, claims) => {
    stage.issuer.idToken = claims;
    const browser = stage.browser();
    await expectRefused(await signOn(stage, browser), browser, 403);
  });

  it('no ID token for a small difference between the clocks', async () => {
    stage.issuer.idToken = { exp: now() - 20, iat: now() + 20 };
    const browser = stage.browser();
    await signOn(stage, browser);
    expect(await browser.email()).toBe(ADA.email);
  });

  it('an ID token with the signature of somebody else', async () => {
    const [browser, again] = [stage.browser(), stage.browser()];
    await signOn(stage, again);
    const keys = stage.issuer.instead;
    const { ScriptedIssuer } = await import('../../support/single-sign-on/scripted-issuer.js');
    const evil = await ScriptedIssuer.start();
    const location = await startSignOn(browser);
    const nonce = new URL(location).searchParams.get('nonce');
    const claims = { iss: stage.issuer.url, aud: 'chat', iat: now(), exp: now() + 60, nonce, ...ADA };
    for (const idToken of [await evil.sign(claims), unsigned(claims)]) {
      keys.set('/token', (response) => {
        const body = { token_type: 'Bearer', access_token: 'x', id_token: idToken };
        response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
      });
      await expectRefused(await browser.get(stage.issuer.authorize(location, ADA)), browser, 403);
    }
    keys.clear();
    await evil.stop();
  });

  it('a person whom the issuer refuses, and says so on a page', async () => {
    const browser = stage.browser();
    const state = new URL(await startSignOn(browser)).searchParams.get('state') ?? '';
    const query = new URLSearchParams({
      error: 'access_denied',
      error_description: '<b>no</b>',
      state,
      iss: stage.issuer.url,
    });
    const answer = await browser.get(`${START}/callback?${query.toString()}`, AS_BROWSER);
    const page = await answer.body();
    expect(answer.status).toBe(403);
    expect(page).toContain('Your organization did not sign you in.');
    expect(page).not.toContain('<b>no');
  });

  it('other paths, methods and bodies', async () => {
    const browser = stage.browser();
    expect((await browser.post(START)).status).toBe(405);
    expect((await browser.post(`${START}/callback`)).status).toBe(405);
    expect((await browser.get(`${START}/back-channel-logout`)).status).toBe(405);
  });
});

describe('single sign-on limits', () => {
  it('the failed callbacks of a network, and asks the issuer no more', async () => {
    const stage = await signOnStage();
    const browser = stage.browser();
    const location = await startSignOn(browser);
    const state = new URL(location).searchParams.get('state') ?? '';
    const query = new URLSearchParams({ code: 'invented', state, iss: stage.issuer.url }).toString();
    const statuses = [];
    for (let count = 0; count < 52; count += 1) statuses.push((await browser.get(`${START}/callback?${query}`)).status);
    expect(statuses).toEqual([...Array.from({ length: 50 }, () => 400), 429, 429]);
    expect(stage.issuer.requests.filter((path) => path === '/token')).toHaveLength(50);
    await stage.stop();
  });

  it('nothing that a started sign-in needs: it leaves no row and no memory', async () => {
    const stage = await signOnStage();
    for (let count = 0; count < 200; count += 1) await startSignOn(stage.browser());
    expect(stage.issuer.requests).toEqual(['/.well-known/openid-configuration']);
    const { DataSource } = await import('typeorm');
    const database = stage.service.app.get(DataSource);
    for (const table of ['sessions', 'session_identities', 'account_identities', 'logout_tokens', 'accounts']) {
      expect(await database.query(`SELECT * FROM ${table}`), table).toEqual([]);
    }
    await stage.stop();
  });
});

function unsigned(claims: object): string {
  const [header, payload] = [{ alg: 'none' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  return `${header}.${payload}.`;
}
