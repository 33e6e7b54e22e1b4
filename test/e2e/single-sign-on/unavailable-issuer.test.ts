import { afterEach, describe, expect, it, vi } from 'vitest';
import { startService } from '../../support/service.js';
import { ScriptedIssuer } from '../../support/single-sign-on/scripted-issuer.js';
import {
  ADA,
  AS_BROWSER,
  freePort,
  signOn,
  signOnStage,
  START,
  startSignOn,
  type SignOnStage,
} from '../../support/single-sign-on/sign-on-stage.js';
import { get } from '../../support/sse-client.js';

const DISCOVERY = '/.well-known/openid-configuration';
const hang = () => undefined;

describe('with an issuer that does not answer', () => {
  let stage: SignOnStage | undefined;
  afterEach(async () => {
    vi.restoreAllMocks();
    await stage?.stop();
    stage = undefined;
  });

  it('the service starts and serves, and says so to those who sign in', async () => {
    const env = {
      PUBLIC_URL: 'http://localhost:4402',
      OIDC_ISSUER: `http://127.0.0.1:${await freePort()}`,
      OIDC_CLIENT_ID: 'chat',
      OIDC_CLIENT_SECRET: 'secret',
    };
    const service = await startService({ env });
    expect((await get(service.origin, '/api/v1/health/ready')).status).toBe(200);
    const answer = await get(service.origin, START, AS_BROWSER);
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    const page = await answer.body();
    expect(page).toContain('Your organization does not answer');
    expect(page).toContain('href="/sign-in"');
    expect(answer.headers['set-cookie']).toBeUndefined();
    await service.stop();
  });

  it('a sign-in that was started fails with a clear page, and works later', async () => {
    stage = await signOnStage();
    const browser = stage.browser();
    for (const path of ['/keys', '/token', '/me']) {
      stage.issuer.instead.set(path, (response) => response.writeHead(503).end());
      const back = stage.issuer.authorize(await startSignOn(browser), ADA);
      const answer = await browser.get(back, AS_BROWSER);
      expect(answer.status, path).toBe(503);
      expect(await answer.body()).toContain('Sign-in failed');
      stage.issuer.instead.clear();
    }
    await signOn(stage, browser);
    expect(await browser.email()).toBe(ADA.email);
  });

  it('nobody waits longer than the time limit, whichever request hangs', async () => {
    const limits = vi.spyOn(AbortSignal, 'timeout');
    const statuses = [DISCOVERY, '/token', '/me'].map(async (path) => {
      const hanging = await signOnStage({ pace: 10 });
      const browser = hanging.browser();
      if (path !== DISCOVERY) await startSignOn(browser);
      hanging.issuer.instead.set(path, hang);
      const answer =
        path === DISCOVERY
          ? await browser.get(START)
          : await browser.get(hanging.issuer.authorize(await startSignOn(browser), ADA));
      await hanging.stop();
      return [path, answer.status];
    });
    expect(await Promise.all(statuses)).toEqual([DISCOVERY, '/token', '/me'].map((path) => [path, 503]));
    expect(new Set(limits.mock.calls.flat())).toEqual(new Set([500]));
  });

  it('visitors share one request for its metadata', async () => {
    const current = await signOnStage();
    stage = current;
    const { issuer } = current;
    let answered = false;
    issuer.instead.set(DISCOVERY, (response) => {
      answered = true;
      response.writeHead(500).end();
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => current.browser().get(START)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 503));
    expect(answered).toBe(true);
    expect(issuer.requests).toEqual([DISCOVERY]);
    // And for some time after a failure, nobody asks again.
    expect((await current.browser().get(START)).status).toBe(503);
    expect(issuer.requests).toEqual([DISCOVERY]);
  });

  it.each([
    ['names another issuer', { issuer: 'https://evil.example' }],
    ['has no keys', { jwks_uri: undefined }],
  ])('metadata that %s is refused', async (_, metadata) => {
    stage = await signOnStage();
    stage.issuer.metadata = metadata;
    expect((await stage.browser().get(START)).status).toBe(503);
  });

  it('an answer without an end is cut', async () => {
    stage = await signOnStage();
    stage.issuer.instead.set(DISCOVERY, (response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.write('{"issuer":"');
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(64 * 1024)));
      };
      response.on('drain', more);
      more();
    });
    expect((await stage.browser().get(START)).status).toBe(503);
  });

  it('rotated keys are read again, and not for every invented key', async () => {
    stage = await signOnStage();
    const [one, two] = [stage.browser(), stage.browser()];
    await signOn(stage, one);
    expect(stage.issuer.requests.filter((path) => path === '/keys')).toHaveLength(1);
    const evil = await ScriptedIssuer.start();
    for (let count = 0; count < 20; count += 1) {
      const logoutToken = await evil.logoutToken({ iss: stage.issuer.url, sub: 'ada-1' });
      await stage.browser().post(`${START}/back-channel-logout`, { logout_token: logoutToken });
    }
    await evil.stop();
    expect(stage.issuer.requests.filter((path) => path === '/keys').length).toBeLessThanOrEqual(2);
    await signOn(stage, two);
    expect(await two.email()).toBe(ADA.email);
  });
});
