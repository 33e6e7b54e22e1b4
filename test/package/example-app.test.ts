import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { configFile } from '../support/catalog.js';
import { Installation, SpawnedProcess } from '../support/process.js';
import { get, stream, type ReceivedStream } from '../support/sse-client.js';
import { WebClient } from '../support/web-client.js';
import { readWire } from '../support/wire.js';
import { AcmeProvider } from './acme-provider.js';
import { COMPILED_EXAMPLE, compileExample } from './compile-example.js';

const EMAIL = 'ada@example.com';
const SECRET = 'the secret of the gateway';
const ACME_MODEL = 'acme/talker';
const SLOW_MODEL = 'builtin/eliza';
const PROMPT = { name: 'Short', text: 'Answer in one word.' };

const TEXT_OF_ACME = 'event: token\ndata: {"t":"Hel"}\n\nevent: ping\ndata: \n\nevent: token\ndata: {"t":"lo"}\n\n';
const END_OF_ACME = 'event: end\ndata: {"why":"done","in":3}\n\n';

function catalog(acmeUrl: string) {
  const model = { name: 'Talker', provider: 'Acme', context_length: 8192 };
  return configFile({
    upstreams: {
      acme: { protocol: 'acme', base_url: acmeUrl, api_key: 'acme-secret' },
      builtin: { protocol: 'builtin' },
    },
    models: [
      { ...model, id: ACME_MODEL, routes: [{ upstream: 'acme', model: 'talker-1' }] },
      { ...model, id: SLOW_MODEL, routes: [{ upstream: 'builtin', model: 'eliza' }] },
    ],
  });
}

/** What the company's gateway sends. */
function signed(email: string): { readonly 'x-api-token': string } {
  return { 'x-api-token': `${email}:${createHmac('sha256', SECRET).update(email).digest('hex')}` };
}

describe('an application that imports the package by its name', () => {
  let acme: AcmeProvider;
  let installation: Installation;
  let app: SpawnedProcess;
  let origin: string;
  let key: string;

  beforeAll(async () => {
    compileExample();
    acme = await AcmeProvider.start();
    installation = await Installation.create(catalog(acme.baseUrl));
    app = new SpawnedProcess(COMPILED_EXAMPLE, [], { ...installation.env, GATEWAY_SECRET: SECRET });
    origin = await app.origin();
    ({ key } = await installation.createKey(EMAIL));
  }, 60_000);
  afterAll(async () => {
    await app.stop();
    await installation.remove();
    await acme.stop();
  });

  const post = (path: string, body: string | object, headers: Record<string, string>): Promise<ReceivedStream> =>
    stream(origin, { path, body: typeof body === 'string' ? body : JSON.stringify(body), headers });
  const ask = (model: string, content: string, headers: Record<string, string>) =>
    stream(origin, { headers, body: { model, messages: [{ role: 'user', content }] } });
  const bearer = () => ({ authorization: `Bearer ${key}` });

  it('serves what the service serves', async () => {
    expect(JSON.parse((await get(origin, '/api/v1/health')).raw)).toMatchObject({ status: 'healthy' });
    expect((await ask(SLOW_MODEL, 'echo Hi', {})).status).toBe(401);
    expect(readWire((await ask(SLOW_MODEL, 'echo Hi', bearer())).raw)).toMatchObject({ text: 'Hi', terminal: 'done' });
  });

  describe('with a module of its own', () => {
    it('opens a route to everybody by @Public() only', async () => {
      const suggestions = await get(origin, '/api/v1/prompts/suggestions');
      expect(suggestions.status).toBe(200);
      expect(JSON.parse(suggestions.raw)).toMatchObject({ prompts: [{ name: 'Summary' }] });

      const refused = await get(origin, '/api/v1/prompts');
      expect(refused.status).toBe(401);
      expect(await refused.error()).toMatchObject({ code: 'unauthenticated' });
    });

    it('learns from @CurrentPrincipal() whose request it is', async () => {
      const { key: otherKey } = await installation.createKey('bob@example.com');

      const added = await post('/api/v1/prompts', PROMPT, bearer());

      expect({ status: added.status, body: JSON.parse(added.raw) as unknown }).toEqual({ status: 201, body: PROMPT });
      const own = await get(origin, '/api/v1/prompts', bearer());
      expect(JSON.parse(own.raw)).toEqual({ prompts: [PROMPT] });
      const others = await get(origin, '/api/v1/prompts', { authorization: `Bearer ${otherKey}` });
      expect(JSON.parse(others.raw)).toEqual({ prompts: [] });
    });

    it('has its bodies checked against their DTO, and its errors told in the same form', async () => {
      const wrong = await post('/api/v1/prompts', { name: 7, color: 'red' }, bearer());
      expect(wrong.status).toBe(400);
      const { code, details } = await wrong.error();
      expect(code).toBe('invalid_request');
      expect(details?.map(({ field }) => field).toSorted()).toEqual(['color', 'name', 'text']);

      const taken = { name: 'Taken', text: '.' };
      await post('/api/v1/prompts', taken, bearer());
      const refused = await post('/api/v1/prompts', taken, bearer());
      expect(refused.status).toBe(400);
      expect(await refused.error()).toMatchObject({ details: [{ field: 'name', message: 'is taken' }] });
    });

    it('has a page beside those of the service, for who is signed in', async () => {
      const browser = new WebClient(origin, { accept: 'text/html' });
      const asked = await browser.get('/prompts');
      expect([asked.status, asked.headers.location]).toEqual([303, '/sign-in?next=%2Fprompts']);
      expect((await get(origin, '/prompts', bearer())).status).toBe(403);

      await browser.signIn(EMAIL);
      const shown = await browser.get('/prompts');

      expect(shown.status).toBe(200);
      expect(shown.raw).toContain(`${PROMPT.name}: ${PROMPT.text}`);
    });

    it('answers 405 with the methods that its paths take, and 415 for bodies that nobody reads', async () => {
      const wrongMethod = await stream(origin, { path: '/api/v1/prompts', method: 'DELETE', headers: bearer() });
      expect(wrongMethod.status).toBe(405);
      expect(wrongMethod.headers.allow?.split(', ').toSorted()).toEqual(['GET', 'HEAD', 'POST']);
      const text = await post('/api/v1/prompts', 'hello', { ...bearer(), 'content-type': 'text/plain' });
      expect(text.status).toBe(415);
    });

    it('is part of the OpenAPI document', async () => {
      const { paths } = JSON.parse((await get(origin, '/api/openapi.json')).raw) as { paths: object };
      expect(Object.keys(paths)).toEqual(expect.arrayContaining(['/api/v1/chat/stream', '/api/v1/prompts']));
    });
  });

  describe('with a protocol of its own', () => {
    it('streams what the provider says in it', async () => {
      acme.events = TEXT_OF_ACME + END_OF_ACME;

      const answer = await ask(ACME_MODEL, 'Hi', bearer());

      expect(readWire(answer.raw)).toMatchObject({ text: 'Hello', terminal: 'done' });
      expect(acme.requests.at(-1)).toEqual({
        path: '/v2/generate',
        key: 'acme-secret',
        body: { model: 'talker-1', turns: [{ role: 'user', content: 'Hi' }], heat: 0.7 },
      });
    });

    it('tells the failures that it finds, before the first text and after it', async () => {
      acme.events = 'event: error\ndata: {}\n\n';
      const refused = await ask(ACME_MODEL, 'Hi', bearer());
      expect(refused.status).toBe(502);
      expect(await refused.error()).toMatchObject({ code: 'upstream_error', message: 'The provider failed.' });

      acme.events = `${TEXT_OF_ACME}event: token\ndata: nonsense\n\n`;
      const broken = await ask(ACME_MODEL, 'Hi', bearer());
      expect(readWire(broken.raw)).toMatchObject({ terminal: 'upstream_error' });
    });

    it('is not complete without the mark of the protocol', async () => {
      acme.events = TEXT_OF_ACME;
      expect(readWire((await ask(ACME_MODEL, 'Hi', bearer())).raw)).toMatchObject({ terminal: 'upstream_error' });
    });
  });

  describe('with a way to authenticate of its own', () => {
    it('lets in whom its strategy knows, beside those with an API key', async () => {
      await post('/api/v1/prompts', { name: 'Of the gateway', text: '.' }, signed(EMAIL));
      const own = JSON.parse((await get(origin, '/api/v1/prompts', bearer())).raw) as { prompts: { name: string }[] };
      expect(own.prompts.map(({ name }) => name)).toContain('Of the gateway');
    });

    it('refuses others as every request without a valid credential', async () => {
      const unknown = { 'x-api-token': signed(EMAIL)['x-api-token'].replace('ada', 'eve') };
      for (const headers of [unknown, signed('nobody@example.com'), { 'x-api-token': '' }]) {
        const refused = await get(origin, '/api/v1/prompts', headers);
        expect(refused.status).toBe(401);
        expect(await refused.error()).toMatchObject({ code: 'unauthenticated' });
        expect(refused.headers['www-authenticate']).toMatch(/^Bearer /);
      }
    });

    it('streams to its callers for as long as the answer takes', async () => {
      const answer = await ask(SLOW_MODEL, 'count to 60', signed(EMAIL));
      expect(readWire(answer.raw)).toMatchObject({ terminal: 'done' });
    });
  });

  it('stops in order on SIGTERM', async () => {
    app.signal('SIGTERM');
    expect((await app.exited).code).toBe(0);
  });
});

describe('the package', () => {
  it('opens no door but its front', async () => {
    const inner = 'chat-streaming-service/dist/app.module.js';
    await expect(import(/* @vite-ignore */ inner)).rejects.toThrow();
  });
});
