import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { answering } from '../../support/scripts.js';
import { SignInPagesModule } from '../../support/sign-in-pages.js';
import { openStream, stream } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { EMAIL, WebClient } from '../../support/web-client.js';
import { wireOf } from '../../support/wire.js';
import { PASSWORD } from '../../support/usual-password.js';

type Headers = Readonly<Record<string, string>>;

/** By what a browser says of where a request comes from. `SELF` stands for the origin of the service. */
const HERE: readonly [string, Headers][] = [
  ['the origin of the service', { origin: 'SELF' }],
  ['same-origin in Sec-Fetch-Site alone', { 'sec-fetch-site': 'same-origin' }],
  ['both', { origin: 'SELF', 'sec-fetch-site': 'same-origin' }],
];
const ELSEWHERE: readonly [string, Headers][] = [
  ['another site', { origin: 'https://evil.example' }],
  ['another port', { origin: 'http://127.0.0.1:1' }],
  ['the same port of another name', { origin: 'SELF', host: 'evil.example' }],
  ['a host that begins like ours', { origin: 'SELF.evil.example' }],
  ['an origin with a path', { origin: 'SELF/' }],
  ['no origin: null', { origin: 'null' }],
  ['an empty origin', { origin: '' }],
  ['nonsense', { origin: 'nonsense' }],
  ['a scheme that is not of the web', { origin: 'file://' }],
  ['Sec-Fetch-Site: cross-site', { 'sec-fetch-site': 'cross-site' }],
  ['Sec-Fetch-Site: same-site', { 'sec-fetch-site': 'same-site' }],
  ['Sec-Fetch-Site: none', { 'sec-fetch-site': 'none' }],
  ['Sec-Fetch-Site: cross-site with our origin', { origin: 'SELF', 'sec-fetch-site': 'cross-site' }],
  [
    'Sec-Fetch-Site: same-origin with another origin',
    { origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
  ],
];
const CHANGES = ['POST', 'PUT', 'PATCH', 'DELETE'];

describe('a request', () => {
  let stage: Stage;
  let ada: WebClient;

  beforeAll(async () => {
    stage = await setStage(1, { modules: [SignInPagesModule] });
    stage.provider.answers(answering('Hi'));
    ada = new WebClient(stage.origin);
    await ada.signUp();
  });
  afterAll(() => stage.clear());

  const withSelf = (headers: Headers): Headers =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value.replace('SELF', stage.origin)]));
  const send = (method: string, path: string, headers: Headers, cookie = ada.cookie) =>
    stream(stage.origin, { method, path, headers: { ...(cookie && { cookie }), ...withSelf(headers) } });
  const postForm = async (path: string, headers: Headers, cookie?: string) => {
    const form = { 'content-type': 'application/x-www-form-urlencoded', ...(cookie !== undefined && { cookie }) };
    const body = new URLSearchParams({ email: EMAIL, password: PASSWORD }).toString();
    return stream(stage.origin, { path, body, headers: { ...form, ...withSelf(headers) } });
  };
  const expectForbidden = async (answer: Awaited<ReturnType<typeof stream>>) => {
    expect(answer.status).toBe(403);
    expect((await answer.error()).code).toBe('forbidden');
    expect(answer.headers['set-cookie']).toBeUndefined();
  };

  describe.each(HERE)('that shows %s', (_, headers) => {
    it.each(CHANGES)('may %s with a session', async (method) => {
      expect((await send(method, '/api/v1/me', headers)).status).toBeLessThan(300);
    });

    it('may open a stream with a session', async () => {
      const cookie = ada.cookie ?? '';
      const answer = await openStream(stage.origin, { headers: { cookie, ...withSelf(headers) } });
      expect(await wireOf(answer)).toMatchObject({ text: 'Hi', terminal: 'done' });
    });

    it('may send forms, with a session and without', async () => {
      expect((await postForm('/echo', headers, ada.cookie)).status).toBe(201);
      expect((await postForm('/sign-in', headers)).status).toBe(303);
    });
  });

  describe.each(ELSEWHERE)('that shows %s', (_, headers) => {
    it.each(CHANGES)('may not %s with a session', async (method) => {
      await expectForbidden(await send(method, '/api/v1/me', headers));
    });

    it('may not open a stream with a session, which costs nothing then', async () => {
      const before = stage.provider.calls.length;
      await expectForbidden(await send('POST', '/api/v1/chat/stream', headers));
      expect(stage.provider.calls).toHaveLength(before);
    });

    it('may not send forms, with a session or without', async () => {
      await expectForbidden(await postForm('/echo', headers, ada.cookie));
      await expectForbidden(await postForm('/sign-in', headers));
      await expectForbidden(await postForm('/sign-out', headers, ada.cookie));
      expect(await ada.email()).toBe(EMAIL);
    });

    it('may read with a session, and do anything with an API key', async () => {
      expect((await send('GET', '/api/v1/me', headers)).status).toBe(200);
      expect((await send('HEAD', '/api/v1/me', headers)).status).toBe(200);
      const authorization = `Bearer ${stage.key}`;
      expect((await send('POST', '/api/v1/me', { ...headers, authorization })).status).toBe(201);
    });
  });

  describe('that does not say where it comes from', () => {
    it.each(CHANGES)('may not %s with a session', async (method) => {
      await expectForbidden(await send(method, '/api/v1/me', {}));
    });

    it('may not open a stream, nor send a form, with a session', async () => {
      await expectForbidden(await send('POST', '/api/v1/chat/stream', {}));
      await expectForbidden(await postForm('/sign-out', {}, ada.cookie));
      expect(await ada.email()).toBe(EMAIL);
    });

    it('may send forms without a session: no browser leaves that out', async () => {
      expect((await postForm('/sign-in', {})).status).toBe(303);
    });
  });

  it('of a form may not be JSON, nor one of JSON a form', async () => {
    const json = { 'content-type': 'application/json' };
    expect((await postForm('/sign-in', json)).status).toBe(415);
    expect((await postForm('/api/v1/chat/stream', { origin: 'SELF' }, ada.cookie)).status).toBe(415);
  });

  it('that a proxy has sent to another host is refused with the reason', async () => {
    const headers = { origin: 'https://chat.example.com', 'sec-fetch-site': 'same-origin' };
    expect((await (await postForm('/sign-in', headers)).error()).message).toMatch(/TRUST_PROXY/);
  });
});
