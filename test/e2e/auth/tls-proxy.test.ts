import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answering } from '../../support/scripts.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { setStage, type Stage } from '../../support/stage.js';
import { TlsProxy } from '../../support/tls-proxy.js';
import { EMAIL } from '../../support/web-client.js';
import { PASSWORD } from '../../support/usual-password.js';

const HOST = 'chat.example.com';
const ORIGIN = `https://${HOST}`;
const FORM = new URLSearchParams({ email: EMAIL, password: PASSWORD }).toString();
const FORM_HEADERS = { host: HOST, 'content-type': 'application/x-www-form-urlencoded' };

/** How proxies pass on whom they stand for. */
const PROXIES = [
  { how: 'with the host as it came', trust: '1', headers: { 'x-forwarded-proto': 'https' } },
  {
    how: 'with a host of its own, and the one that came beside it',
    trust: '1',
    headers: { host: 'chat.internal:3000', 'x-forwarded-host': HOST, 'x-forwarded-proto': 'https' },
  },
  { how: 'with the host as it came and nothing else, without TRUST_PROXY', trust: '0', headers: {} },
  {
    how: 'with its own values behind those that the client has sent',
    trust: '1',
    headers: {
      host: 'chat.internal:3000',
      'x-forwarded-host': `evil.example, ${HOST}`,
      'x-forwarded-proto': 'http,https',
    },
  },
  {
    how: 'with the host and the port of the service in it, and another proxy before it',
    trust: '2',
    headers: { host: `${HOST}:443`, 'x-forwarded-proto': 'https,http' },
  },
];

describe.each(PROXIES)('behind a TLS proxy that goes on $how', ({ trust, headers }) => {
  let stage: Stage;
  let proxy: TlsProxy;

  beforeAll(async () => {
    stage = await setStage(1, { modules: [SignInPagesModule], env: { TRUST_PROXY: trust } });
    stage.provider.answers(answering('Hi'));
    proxy = await TlsProxy.start(stage.origin, headers);
    expect((await postForm('/sign-up', { origin: ORIGIN })).status).toBe(303);
  });
  afterAll(async () => {
    await proxy.stop();
    await stage.clear();
  });

  const postForm = (path: string, extra: Readonly<Record<string, string>>) =>
    proxy.request({ method: 'POST', path, body: FORM, headers: { ...FORM_HEADERS, ...extra } });
  const signIn = async () => {
    const answer = await postForm('/sign-in', { origin: ORIGIN, 'sec-fetch-site': 'same-origin' });
    expect(answer.status).toBe(303);
    return answer.headers['set-cookie']?.[0] ?? '';
  };

  it('signing in sets the cookie, which works', async () => {
    const set = await signIn();
    expect(set).toMatch(/^__Host-session=[\w-]{43}; .*; Secure; HttpOnly; SameSite=Lax$/);
    const [cookie = ''] = set.split(';');
    const me = await proxy.request({ path: '/me', headers: { host: HOST, cookie } });
    expect(JSON.parse(me.body)).toMatchObject({ email: EMAIL });
  });

  it('the origin that the browser sees is the same origin, others are not', async () => {
    const [cookie = ''] = (await signIn()).split(';');
    const chat = (origin: string) =>
      proxy.request({
        method: 'POST',
        path: '/api/v1/chat/stream',
        headers: { host: HOST, cookie, origin, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/fast', messages: [{ role: 'user', content: 'Hello!' }] }),
      });
    const answer = await chat(ORIGIN);
    expect(answer.status).toBe(200);
    expect(answer.body).toContain('"done":true');
    for (const origin of [`${ORIGIN}:8443`, 'https://example.com', 'https://chat.internal:3000', stage.origin]) {
      expect((await chat(origin)).status).toBe(403);
    }
    // Whoever can see that TLS is in front takes no page without it for one of its own.
    expect((await chat(`http://${HOST}`)).status).toBe(trust === '0' ? 200 : 403);
  });
});

describe('without TRUST_PROXY', () => {
  it('no proxy is trusted about the host', async () => {
    const stage = await setStage(1, { modules: [SignInPagesModule] });
    const proxy = await TlsProxy.start(stage.origin, { host: 'chat.internal:3000', 'x-forwarded-host': HOST });
    const answer = await proxy.request({
      method: 'POST',
      path: '/sign-in',
      headers: { ...FORM_HEADERS, origin: ORIGIN },
      body: FORM,
    });
    expect(answer.status).toBe(403);
    await proxy.stop();
    await stage.clear();
  });
});
