import { createHmac } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PLUGINS } from '../../../examples/src/plugins.js';
import { Redactor } from '../../../examples/src/redactor.plugin.js';
import type { CompletionPart } from '../../../src/upstreams/contract/stream-part.js';
import { operatorSignedIn } from '../../support/account-session.js';
import { adminCommand } from '../../support/admin-command.js';
import { Latch } from '../../support/latch.js';
import { scrape, valueOf } from '../../support/metrics.js';
import { get, openStream, stream, type ReceivedStream } from '../../support/sse-client.js';
import { waitFor } from '../../support/wait-for.js';
import { WebClient } from '../../support/web-client.js';
import { readWire, wireOf } from '../../support/wire.js';
import { EMAIL, ExamplesStage, JWT_SECRET } from './stage.js';

const CARD = '4111 1111 1111 1111';

const base64 = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function token(claims: object, secret = JWT_SECRET): string {
  const signed = `${base64({ alg: 'HS256', typ: 'JWT' })}.${base64(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1_000) + seconds;

describe('the examples, all in one service', () => {
  let stage: ExamplesStage;

  beforeAll(async () => {
    stage = await ExamplesStage.set({ env: { METRICS_PORT: '0', TRUST_PROXY: '1' } });
  });
  afterAll(() => stage.clear());

  const ask = (model: string, content: string, key = stage.key): Promise<ReceivedStream> =>
    stream(stage.origin, { key, body: { model, messages: [{ role: 'user', content }] } });
  const post = (path: string, body: object, key = stage.key) =>
    stream(stage.origin, { path, body: JSON.stringify(body), key });
  const answering = (...texts: string[]): void => {
    stage.provider.next((call) => {
      call.head();
      for (const text of texts) call.text(text);
      call.finish().end();
    });
  };

  it('speak a protocol of their own over server-sent events', async () => {
    stage.provider.next((call) => {
      call.head().write('event: token\ndata: {"t":"Hel"}\n\nevent: token\ndata: {"t":"lo"}\n\n');
      call.write('event: end\ndata: {"why":"done","in":3,"out":2}\n\n').end();
    });
    expect(readWire((await ask('acme/one', 'Hi')).raw)).toMatchObject({ text: 'Hello', terminal: 'done' });
    expect(stage.provider.calls.at(-1)).toMatchObject({ path: '/v2/generate', headers: { 'x-acme-key': 'secret' } });
  });

  it('speak a protocol of their own with one object a line', async () => {
    stage.provider.next((call) => {
      call.head(200, { 'content-type': 'application/x-ndjson' });
      call.write('{"out":"Hel"}\n{"out":"lo"}\n{"end":true,"used":[3,2]}\n').end();
    });
    expect(readWire((await ask('lines/one', 'Hi')).raw)).toMatchObject({ text: 'Hello', terminal: 'done' });
    expect(stage.provider.calls.at(-1)?.path).toBe('/v2/run');
  });

  it('speak a protocol of two requests, and delete a job whose client has left', async () => {
    const { provider } = stage;
    provider.next(
      (call) => {
        call.reply({ id: 'job-1' });
      },
      (call) => {
        call.head().write('data: {"piece":"Hel"}\n\ndata: {"piece":"lo"}\n\ndata: {"state":"done"}\n\n').end();
      },
    );
    expect(readWire((await ask('jobs/one', 'Hi')).raw)).toMatchObject({ text: 'Hello', terminal: 'done' });
    const sent = () => provider.calls.slice(-3).map(({ method, path }) => `${method} ${path}`);
    expect(sent().slice(1)).toEqual(['POST /v2/jobs', 'GET /v2/jobs/job-1/events']);

    provider.next(
      (call) => {
        call.reply({ id: 'job-2' });
      },
      (call) => {
        call.head().write('data: {"piece":"Hel"}\n\n');
      },
      (call) => {
        call.reply({});
      },
    );
    const answer = await openStream(stage.origin, { key: stage.key, body: { model: 'jobs/one' } });
    answer.leave();
    await waitFor(() => sent().includes('DELETE /v2/jobs/job-2') || undefined, 'the end of the job');
  });

  it('bridge to a library in this process', async () => {
    expect(readWire((await ask('echo/one', 'one two three')).raw)).toMatchObject({
      text: 'one two three',
      terminal: 'done',
    });
  });

  describe('authenticate by a JWT', () => {
    it('streams to the account of the token', async () => {
      const answer = await ask('echo/one', 'Hi', token({ email: EMAIL, exp: inSeconds(60) }));
      expect(readWire(answer.raw)).toMatchObject({ text: 'Hi', terminal: 'done' });
    });

    it.each([
      ['The token has expired.', () => token({ email: EMAIL, exp: inSeconds(-1) })],
      ['The signature of the token is invalid.', () => token({ email: EMAIL, exp: inSeconds(60) }, 'another secret')],
      ['The token is for no active account.', () => token({ email: 'eve@example.com', exp: inSeconds(60) })],
    ])('refuses in its own words: %s', async (message, make) => {
      const refused = await ask('echo/one', 'Hi', make());
      expect(refused.status).toBe(401);
      expect(await refused.error()).toMatchObject({ code: 'unauthenticated', message });
      expect(refused.headers['www-authenticate']).toMatch(/^Bearer /);
    });

    it('is named in the answer to a request without a credential, and in the OpenAPI document', async () => {
      expect((await (await stream(stage.origin)).error()).message).toContain('Bearer <JWT>');
      const document = JSON.parse((await get(stage.origin, '/api/openapi.json')).raw) as {
        components: { securitySchemes: Record<string, object> };
        paths: Record<string, { post: { security: object[] } }>;
      };
      expect(document.components.securitySchemes['jwt']).toMatchObject({ bearerFormat: 'JWT' });
      expect(document.paths['/api/v1/chat/stream']?.post.security).toContainEqual({ jwt: [] });
    });

    it('ends the streams of a token that expires', async () => {
      stage.provider.next((call) => {
        call.head().text('Hello');
      });
      const key = token({ email: EMAIL, exp: inSeconds(2) });
      const answer = await openStream(stage.origin, { key, body: { model: 'openai/one' } });
      expect(await wireOf(answer)).toMatchObject({ text: 'Hello', terminal: 'key_revoked' });
    });
  });

  it('authenticate by a client certificate that the proxy has checked', async () => {
    await stage.service.createKey({ email: 'robot-1@machines.example.com' });
    const as = async (subject: string) =>
      stream(stage.origin, {
        headers: { 'x-client-subject': subject, 'x-forwarded-for': '203.0.113.9' },
        body: { model: 'echo/one', messages: [{ role: 'user', content: 'Hi' }] },
      });
    expect(readWire((await as('CN=robot-1,O=Acme')).raw)).toMatchObject({ text: 'Hi', terminal: 'done' });
    const refused = await as('CN=robot-2,O=Acme');
    expect(await refused.error()).toMatchObject({ message: 'The certificate is for no active account.' });
    expect((await stream(stage.origin, { headers: { 'x-client-subject': 'CN=robot-1' } })).status).toBe(401);
  });

  it('sign people in whom a proxy has recognized', async () => {
    expect((await get(stage.origin, '/sign-in')).raw).toContain('href="/sign-in/proxy"');
    const as = (headers: Record<string, string>) => get(stage.origin, '/sign-in/proxy', headers);
    expect((await as({ 'x-forwarded-email': 'grace@example.com' })).status).toBe(401);

    const fromProxy = { 'x-forwarded-email': 'grace@example.com', 'x-forwarded-for': '203.0.113.9' };
    const signedIn = [await as(fromProxy), await as(fromProxy)];
    for (const { status, headers } of signedIn) {
      expect(status).toBe(303);
      const [cookie = ''] = headers['set-cookie'] ?? [];
      const page = await get(stage.origin, '/settings/account', { cookie: cookie.split(';')[0] ?? '' });
      expect(page.raw).toContain('grace@example.com');
      expect(page.raw).not.toContain('href="/sign-in/proxy"');
    }
  });

  it('have a job with a metric and a part of the readiness, and a page for operators', async () => {
    expect(valueOf(await scrape(stage.service), 'acme_spent_today')).toBe(0);
    expect(JSON.parse((await get(stage.origin, '/api/v1/health/ready')).raw)).toMatchObject({
      parts: { acme_spending: 'up' },
    });
    const { cookie } = await operatorSignedIn(stage.service);
    const page = await get(stage.origin, '/spending', { cookie: `${cookie.name}=${cookie.value}` });
    expect(page.raw).toContain('<h1>Spending today</h1>');
    expect((await get(stage.origin, '/spending')).status).toBe(401);
  });

  it('limit the requests per model and the tokens per month, in their own store of limits', async () => {
    const { headers } = await ask('echo/limited', 'Hi');
    expect(headers).toMatchObject({
      'x-ratelimit-limit-model': '2',
      'x-ratelimit-remaining-model': '1',
      'x-ratelimit-limit-tokens-month': '1000000',
    });
    await ask('echo/limited', 'Hi');
    const refused = await ask('echo/limited', 'Hi');
    expect(refused.status).toBe(429);
    expect(await refused.error()).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'The tier allows 2 requests per minute to echo/limited. A minute begins with its first request.',
    });
    expect((await ask('echo/one', 'Hi')).status).toBe(200);
  });

  it('limit the requests of a team, whose accounts count together', async () => {
    const [one, other] = [
      await stage.service.createKey({ tier: 'red' }),
      await stage.service.createKey({ tier: 'red' }),
    ];
    const { headers } = await ask('echo/one', 'Hi', one.key);
    expect(headers).toMatchObject({ 'x-ratelimit-limit-team': '2', 'x-ratelimit-remaining-team': '1' });
    await ask('echo/one', 'Hi', other.key);
    expect(await (await ask('echo/one', 'Hi', one.key)).error()).toMatchObject({
      code: 'rate_limit_exceeded',
      message:
        'The limit that all accounts of team:red share allows 2 requests per minute. A minute begins with its first request.',
    });
    expect((await ask('echo/one', 'Hi')).status).toBe(200);
  });

  it('send every record to a webhook', async () => {
    const { headers } = await ask('echo/one', 'Hi');
    const requestId = headers['x-request-id'];
    await waitFor(() => stage.company.records.find((record) => record.request_id === requestId), 'the sent record');
  });

  it('list models of another source, which change while the service runs', async () => {
    const route = { upstream: 'echo', model: 'one' };
    const model = { id: 'registry/new', name: 'New', provider: 'Acme', context_length: 100, routes: [route] };
    stage.company.models = [
      model,
      { id: 'broken' },
      { ...model, id: 'registry/off', routes: [{ ...route, upstream: 'none' }] },
    ];
    const list = async () => (await get(stage.origin, '/api/v1/chat/models')).raw;
    await waitFor(async () => (await list()).includes('registry/new') || undefined, 'the new model');
    expect(await list()).not.toMatch(/broken|registry\/off/);
    expect(readWire((await ask('registry/new', 'Hi')).raw)).toMatchObject({ text: 'Hi', terminal: 'done' });

    stage.company.models = [];
    await waitFor(async () => !(await list()).includes('registry/new') || undefined, 'the end of the model');
    expect((await ask('registry/new', 'Hi')).status).toBe(404);
  });

  describe('have a metered endpoint that calls a model', () => {
    it('answers JSON, with the headers of the limits', async () => {
      answering('In', ' short.');
      const answer = await post('/api/v1/summaries', { text: 'A long story.' });
      expect(answer.status).toBe(200);
      expect(JSON.parse(answer.raw)).toEqual({ summary: 'In short.', is_cut: false });
      expect(answer.headers['x-ratelimit-limit']).toBe('1000');
    });

    it('passes the hooks, as every completion does', async () => {
      expect((await post('/api/v1/summaries', { text: 'Something forbidden.' })).status).toBe(422);
    });
  });

  describe('have chat completions at a path of their own', () => {
    const path = '/api/v1/acme/chat/completions';
    const messages = [{ role: 'user' as const, content: 'Hi' }];

    it('for the SDK of OpenAI, whole and streamed', async () => {
      const openai = new OpenAI({ baseURL: `${stage.origin}/api/v1/acme`, apiKey: stage.key });
      answering('Hel', 'lo');
      const whole = await openai.chat.completions.create({ model: 'openai/one', messages, n: 1 });
      expect(whole.choices[0]).toMatchObject({ message: { content: 'Hello' }, finish_reason: 'stop' });
      expect(whole.usage?.completion_tokens).toBeGreaterThan(0);
      answering('Hel', 'lo');
      const chunks = await openai.chat.completions.create({ model: 'openai/one', messages, stream: true });
      let text = '';
      const reasons: unknown[] = [];
      for await (const { choices, id } of chunks) {
        text += choices[0]?.delta.content ?? '';
        reasons.push(choices[0]?.finish_reason);
        expect(id).not.toBe(whole.id);
      }
      expect([text, reasons.at(-1)]).toEqual(['Hello', 'stop']);
    });

    it.each([
      [400, 'invalid_request', { body: '{"messages":7}' }],
      [401, 'unauthenticated', { key: undefined }],
      [404, 'not_found', { path: `${path}/none` }],
      [405, 'method_not_allowed', { method: 'DELETE' }],
      [413, 'payload_too_large', { headers: { 'content-length': '99999999' }, body: '' }],
    ])('with errors in their own format: %i %s', async (status, code, options) => {
      const refused = await stream(stage.origin, { path, key: stage.key, ...options });
      expect(refused.status).toBe(status);
      expect(JSON.parse(refused.raw)).toMatchObject({ error: { code, type: 'acme_error' } });
    });
  });

  describe('redact', () => {
    it('what the model gets', async () => {
      answering('Thanks.');
      await ask('openai/one', `My card is ${CARD}.`);
      expect(stage.provider.calls.at(-1)?.body).toContain('My card is [card number].');
    });

    it('what the reader gets, however the text is split', async () => {
      for (let at = 0; at <= CARD.length; at++) {
        answering('It is ', CARD.slice(0, at), CARD.slice(at), ', as 1 of 2.');
        const { text, terminal } = readWire((await ask('openai/one', 'Which card?')).raw);
        expect([text, terminal]).toEqual(['It is [card number], as 1 of 2.', 'done']);
      }
    });

    it('a number at the very end, before the reason of the end and without empty texts', async () => {
      const parts: CompletionPart[] = [
        { type: 'text', text: CARD.slice(0, 7) },
        { type: 'usage', usage: { outputTokens: 9 } },
        { type: 'text', text: CARD.slice(7) },
        { type: 'finish', reason: 'stop', raw: 'stop' },
      ];
      const sent = await Readable.from(new Redactor().wrapStream(Readable.from(parts))).toArray();
      expect(sent).toEqual([parts[1], { type: 'text', text: '[card number]' }, parts[3]]);
    });
  });

  describe('refuse by an error of their own', () => {
    it('a request, before a request to any provider', async () => {
      const calls = stage.provider.calls.length;
      const refused = await ask('openai/one', 'This is FORBIDDEN.');
      expect(refused.status).toBe(422);
      expect(await refused.error()).toMatchObject({
        code: 'acme_guardrail',
        details: [{ field: 'messages.0.content' }],
      });
      expect(stage.provider.calls).toHaveLength(calls);
    });

    it('an answer, and stop the provider', async () => {
      const latch = new Latch();
      stage.provider.next(async (call) => {
        call.head().text('Well, ');
        await latch.opened;
        call.text('it is forb').text('idden to ');
      });
      const answer = await openStream(stage.origin, { key: stage.key, body: { model: 'openai/one' } });
      latch.open();
      expect(await wireOf(answer)).toMatchObject({ text: 'Well, ', terminal: 'acme_guardrail' });
      await stage.provider.calls.at(-1)?.over;
      expect(stage.provider.calls.at(-1)?.abortedAt).toBeDefined();
    });

    it('an answer that begins with it, as an ordinary HTTP error', async () => {
      answering('forbidden');
      const refused = await ask('openai/one', 'Hi');
      expect(refused.status).toBe(422);
    });

    it('that the OpenAPI document has', async () => {
      const { raw } = await get(stage.origin, '/api/openapi.json');
      expect(raw).toContain('`acme_guardrail`: The guardrail refuses the text.');
      const { components } = JSON.parse(raw) as {
        components: { schemas: { ErrorReport: { properties: { code: { enum: string[] } } } } };
      };
      expect(components.schemas.ErrorReport.properties.code.enum).toContain('acme_guardrail');
    });
  });

  describe('keep a table of their own', () => {
    it('with an endpoint and an error', async () => {
      const prompt = { name: 'Short', text: 'Answer in one word.' };
      expect((await post('/api/v1/prompts', prompt)).status).toBe(201);
      const taken = await post('/api/v1/prompts', prompt);
      expect(taken.status).toBe(409);
      expect(await taken.error()).toMatchObject({ code: 'acme_prompt_taken', details: [{ field: 'name' }] });
      const own = await get(stage.origin, '/api/v1/prompts', { authorization: `Bearer ${stage.key}` });
      expect(JSON.parse(own.raw)).toEqual({ prompts: [prompt] });
    });

    it('with a page in the layout of the service, with all security headers', async () => {
      const browser = new WebClient(stage.origin, { accept: 'text/html' });
      expect((await browser.get('/prompts')).headers.location).toBe('/sign-in?next=%2Fprompts');
      await browser.signIn(EMAIL);

      const page = await browser.get('/prompts');
      expect(page.raw).toContain('<a href="/prompts" aria-current="page">Prompts</a>');
      expect(page.headers).toMatchObject({
        'cache-control': 'no-store',
        'content-security-policy': expect.stringContaining("default-src 'none'") as unknown,
        'x-frame-options': 'DENY',
      });
      const [, style = ''] = /href="(\/assets\/[^"]*prompts\.css)"/.exec(page.raw) ?? [];
      const served = await get(stage.origin, style);
      expect([served.status, served.headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
      const earlier = await get(stage.origin, style.replace(/^\/assets\/[^/]+/, '/assets/earlier'));
      expect([earlier.status, earlier.headers['cache-control']]).toEqual([200, 'no-store']);

      expect((await browser.postForm('/prompts', { name: 'Long', text: 'Write a page.' })).status).toBe(303);
      const incomplete = await browser.postForm('/prompts', { name: 'Short' });
      expect([incomplete.status, incomplete.raw]).toEqual([400, expect.stringContaining('id="text-problem"')]);
      const again = await browser.postForm('/prompts', { name: 'Long', text: 'Again.' });
      expect(again.status).toBe(409);
      expect(again.raw).toContain('is taken');
      expect((await browser.get('/usage')).raw).toContain('<a href="/prompts">Prompts</a>');
    });
  });

  it('have a command of their own, which sees their table', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'chat-examples-'));
    const config = join(folder, 'config.json');
    const examples = fileURLToPath(new URL('../../../examples/config.yaml', import.meta.url));
    await writeFile(config, await readFile(examples, 'utf8'));
    const env = { CONFIG_FILE: config, DATABASE_URL: `sqlite:${join(folder, 'chat.sqlite')}` };
    const run = (...words: string[]) => adminCommand(env, words, undefined, PLUGINS);

    expect((await run('account', 'create', '--email', EMAIL, '--password', 'correct horse battery')).stderr).toBe('');
    expect(await run('prompts', 'list', '--email', EMAIL)).toEqual({ exitCode: 0, stdout: '[]\n', stderr: '' });
    expect(await run('prompts', 'list', '--email', 'eve@example.com')).toMatchObject({
      exitCode: 1,
      stderr: 'There is no account "eve@example.com".\n',
    });
    expect(await run('spending', 'top')).toMatchObject({ exitCode: 1, stderr: 'Nothing was spent today.\n' });
    expect((await run('--help')).stdout).toContain('  prompts list --email E\n');
    await rm(folder, { recursive: true });
  });

  it('show a metric of their own', async () => {
    await ask('echo/one', 'one two three');
    const count = async () => valueOf(await scrape(stage.service), 'acme_answer_tokens_count', { model: 'echo/one' });
    await waitFor(async () => (await count()) > 0 || undefined, 'the metric');
  });
});
