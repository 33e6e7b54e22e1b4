import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo, CONTEXT_LENGTH } from '../support/catalog.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { refusing } from '../support/scripts.js';
import { startService, type RunningService } from '../support/service.js';
import { get, stream, type StreamOptions } from '../support/sse-client.js';
import { checkerOf, checkerOfAnswer, documentedAnswer } from './documented.js';
import { OpenApiDocument } from './open-api-shape.js';

const STREAM = '/api/v1/chat/stream';
const MODELS = '/api/v1/chat/models';
const HEALTH = '/api/v1/health';
const READY = '/api/v1/health/ready';

/** Those of the contract that this operation can answer; 405 is of paths, which have no place for it. */
const STREAM_STATUSES = [200, 400, 401, 403, 404, 409, 413, 415, 429, 500, 502, 503, 504];

describe('the OpenAPI document', () => {
  let provider: ScriptedProvider;
  let service: RunningService;
  let origin: string;
  let key: string;
  let limitedKey: string;
  let sent: unknown;
  let document: OpenApiDocument;

  beforeAll(async () => {
    provider = await ScriptedProvider.start();
    const tiers = { free: {}, limited: { requests_per_minute: 1 } };
    service = await startService({ ...routesTo([provider], { first_token_ms: 2_000 }), tiers });
    ({ origin } = service);
    ({ key } = await service.createKey());
    ({ key: limitedKey } = await service.createKey({ tier: 'limited' }));
    const answer = await get(origin, '/api/openapi.json');
    expect(answer.headers['content-type']).toMatch(/^application\/json/);
    sent = JSON.parse(answer.raw);
    document = sent as OpenApiDocument;
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  describe('as a document', () => {
    it('is OpenAPI 3.1, with no member that the specification does not know', () => {
      expect(OpenApiDocument.safeParse(sent).error?.issues).toBeUndefined();
    });

    it('refers only to what it holds', () => {
      const references = [...JSON.stringify(sent).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)];
      expect(references.length).toBeGreaterThan(10);
      const names = new Set(references.map(([, name = '']) => name));
      expect([...names].filter((name) => document.components.schemas[name] === undefined)).toEqual([]);
    });

    it('holds no two operations of one id', () => {
      const ids = Object.values(document.paths).flatMap((path) =>
        Object.values(path).map(({ operationId }) => operationId),
      );
      expect(new Set(ids).size).toBe(ids.length);
    });

    it('names each operation as code would', () => {
      const ids = Object.values(document.paths).flatMap((path) =>
        Object.values(path).map(({ operationId }) => operationId),
      );
      expect(ids.toSorted()).toEqual([
        'cancelStream',
        'countMessageTokens',
        'createAccount',
        'createChatCompletion',
        'createInvitation',
        'createKey',
        'createMessage',
        'createPasswordReset',
        'createResponse',
        'deleteAccount',
        'endSessions',
        'getAccount',
        'getCompatibleModel',
        'getHealth',
        'getKey',
        'getReadiness',
        'getReceipt',
        'getUsage',
        'listAccounts',
        'listAuditEntries',
        'listCompatibleModels',
        'listInvitations',
        'listKeys',
        'listModels',
        'listOperatorKeys',
        'listUsage',
        'prepareSingleSignOn',
        'readStream',
        'reportLeakedKeys',
        'revokeInvitation',
        'revokeKey',
        'revokeOperatorKey',
        'revokePasswordReset',
        'rotateKey',
        'setPassword',
        'streamChat',
        'updateAccount',
        'updateKey',
      ]);
    });

    it('begins with an example that the service accepts', async () => {
      const { example } = document.components.schemas['ChatRequest'] as { example: object };
      const answer = await stream(origin, { key, body: JSON.stringify(example) });
      expect(answer.status).toBe(200);
    });

    it('has the version of the service', async () => {
      const { version } = JSON.parse((await get(origin, HEALTH)).raw) as { version: string };
      expect(document.info.version).toBe(version);
    });
  });

  describe('of the operations', () => {
    it('names each path with its method and its statuses', () => {
      const statusesOf = (path: string) =>
        Object.entries(document.paths[path] ?? {}).map(([method, { responses }]) => [
          method,
          Object.keys(responses).map(Number),
        ]);
      expect(statusesOf(STREAM)).toEqual([['post', STREAM_STATUSES]]);
      expect(statusesOf(MODELS)).toEqual([['get', expect.arrayContaining([200])]]);
      expect(statusesOf(HEALTH)).toEqual([['get', expect.arrayContaining([200])]]);
      expect(statusesOf(READY)).toEqual([['get', expect.arrayContaining([200, 503])]]);
    });

    it('names the request id in every answer, and the answer to a bug', () => {
      const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
      for (const { operationId, responses } of operations) {
        expect(Object.keys(responses), operationId).toContain('500');
        for (const answer of Object.values(responses)) {
          expect(Object.keys(('headers' in answer && answer.headers) || {}), operationId).toContain('X-Request-Id');
        }
      }
    });

    it('names only the codes that an operation can have', () => {
      expect(documentedAnswer(document, 'get', '/api/v1/usage', 400).description).toBe('`invalid_request`');
      expect(documentedAnswer(document, 'get', '/api/v1/chat/streams/{id}', 404).description).toBe('`not_found`');
    });

    it('says which of them needs a key', () => {
      const schemes = Object.entries(document.components.securitySchemes ?? {});
      const [name, scheme] = schemes.find(([, { type }]) => type === 'http') ?? ['none', undefined];
      expect(scheme).toMatchObject({ type: 'http', scheme: 'bearer' });
      expect(document.paths[STREAM]?.post?.security).toContainEqual({ [name]: [] });
      for (const path of [MODELS, HEALTH, READY]) expect(document.paths[path]?.get?.security ?? []).toEqual([]);
    });

    it('describes the request as it is checked', () => {
      const schema = document.paths[STREAM]?.post?.requestBody?.content['application/json']?.schema;
      const request = checkerOf(document, schema);
      const messages = [{ role: 'user', content: 'Hello!' }];
      const valid = { model: 'acme/fast', messages };
      const accepted = [
        valid,
        { ...valid, temperature: 0 },
        { ...valid, top_p: 0.5, stop: 'END', seed: -1, presence_penalty: -2, frequency_penalty: 2 },
        { ...valid, stop: ['a', 'b', 'c', 'd'] },
        { ...valid, temperature: 2, max_tokens: CONTEXT_LENGTH },
        {
          ...valid,
          messages: [{ role: 'system', content: 'Be brief.' }, ...messages, { role: 'assistant', content: '…' }],
        },
      ];
      const refused = [
        {},
        { model: 'acme/fast' },
        { messages },
        { ...valid, messages: [] },
        { ...valid, messages: [{ role: 'tool', content: 'x' }] },
        { ...valid, messages: [{ role: 'user', content: '' }] },
        { ...valid, messages: [{ role: 'user' }] },
        { ...valid, messages: Array.from({ length: 1001 }, () => messages[0]) },
        { ...valid, temperature: -0.1 },
        { ...valid, temperature: 2.1 },
        { ...valid, temperature: '1' },
        { ...valid, top_p: 1.1 },
        { ...valid, stop: [] },
        { ...valid, stop: ['a', 'b', 'c', 'd', 'e'] },
        { ...valid, seed: 1.5 },
        { ...valid, presence_penalty: 3 },
        { ...valid, max_tokens: 0 },
        { ...valid, max_tokens: 1.5 },
        { ...valid, color: 'red' },
        { ...valid, messages: [{ ...messages[0], name: 'A' }] },
      ];
      expect(accepted.filter((body) => !request.safeParse(body).success)).toEqual([]);
      expect(refused.filter((body) => request.safeParse(body).success)).toEqual([]);
      expect(document.components.schemas['ChatRequest']).toMatchObject({
        required: ['model', 'messages'],
        properties: {
          temperature: { description: 'The default is 0.7. With `top_p`, there is no default.' },
          max_tokens: { type: 'integer' },
        },
      });
    });

    it('describes the stream and its headers', async () => {
      const { headers = {}, content = {} } = documentedAnswer(document, 'post', STREAM, 200);
      expect(Object.keys(content)).toEqual(['text/event-stream']);
      expect(content['text/event-stream']?.schema).toMatchObject({ type: 'string' });
      const chunk = checkerOf(document, document.components.schemas['Chunk']);

      const answer = await stream(origin, { key });

      expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
      for (const { text } of answer.blocks) {
        expect(chunk.safeParse(JSON.parse(text.replace('data: ', ''))).error).toBeUndefined();
      }
      const limits = ['', '-Tokens', '-Tokens-Minute'].flatMap((of) =>
        ['Limit', 'Remaining', 'Reset'].map((name) => `X-RateLimit-${name}${of}`),
      );
      expect(Object.keys(headers).toSorted()).toEqual(
        [...limits, 'X-Request-Id', 'X-Stream-Id', 'Idempotency-Replayed'].toSorted(),
      );
      expect(answer.headers['x-request-id']).toBeTruthy();
    });

    it('describes the end of a stream that fails', async () => {
      provider.next((call) => {
        call.head().text('Half').failure('server_error').end();
      });
      const answer = await stream(origin, { key });
      const data = answer.blocks.at(-1)?.text.replace('event: error\ndata: ', '') ?? '';
      expect(
        checkerOf(document, document.components.schemas['Chunk']).safeParse(JSON.parse(data)).error,
      ).toBeUndefined();
    });
  });

  describe('of real answers', () => {
    it.each([MODELS, HEALTH, READY])('describes GET %s', async (path) => {
      const answer = await get(origin, path);
      const { error } = checkerOfAnswer(document, 'get', path, answer.status).safeParse(JSON.parse(answer.raw));
      expect(error).toBeUndefined();
    });

    const refusals: [status: number, code: string, options: () => StreamOptions, providerStatus?: number][] = [
      [400, 'invalid_request', () => ({ key, body: { temperature: 3, color: 'red' } })],
      [400, 'invalid_request', () => ({ key, body: '{' })],
      [400, 'upstream_rejected', () => ({ key }), 400],
      [401, 'unauthenticated', () => ({})],
      [401, 'unauthenticated', () => ({ key: 'nonsense' })],
      [404, 'model_not_found', () => ({ key, body: { model: 'acme/other' } })],
      [413, 'payload_too_large', () => ({ key, headers: { 'content-length': '5000000' }, body: '{' })],
      [415, 'unsupported_media_type', () => ({ key, headers: { 'content-type': 'text/plain' } })],
      [502, 'upstream_error', () => ({ key }), 500],
      [503, 'upstream_unavailable', () => ({ key }), 429],
    ];
    it.each(refusals)('describes %i %s', async (status, code, options, providerStatus) => {
      if (providerStatus !== undefined) {
        provider.next(refusing(providerStatus));
      }
      await expectDocumented(status, code, options());
    });

    it('describes 429 rate_limit_exceeded, with the time to wait', async () => {
      await stream(origin, { key: limitedKey });
      const { headers } = await expectDocumented(429, 'rate_limit_exceeded', { key: limitedKey });
      expect(headers['retry-after']).toMatch(/^\d+$/);
      expect(Object.keys(documentedAnswer(document, 'post', STREAM, 429).headers ?? {})).toContain('Retry-After');
    });

    it('describes 504 upstream_timeout', async () => {
      provider.next(() => undefined);
      await expectDocumented(504, 'upstream_timeout', { key });
    });

    async function expectDocumented(status: number, code: string, options: StreamOptions) {
      const answer = await stream(origin, options);
      const body = JSON.parse(answer.raw) as { error: { code: string; request_id: string } };
      expect({ status: answer.status, code: body.error.code }).toEqual({ status, code });
      expect(checkerOfAnswer(document, 'post', STREAM, status).safeParse(body).error).toBeUndefined();
      expect(documentedAnswer(document, 'post', STREAM, status).description).toContain(`\`${code}\``);
      expect(body.error.request_id).toBe(answer.headers['x-request-id']);
      return answer;
    }
  });

  describe('for people, at /api/docs', () => {
    it('comes with a policy that allows no inline script, and has none', async () => {
      const page = await get(origin, '/api/docs');
      expect(page.status).toBe(200);
      const policy = String(page.headers['content-security-policy']);
      expect(policy).toMatch(/script-src 'self'(;|$)/);
      expect(page.raw).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/i);
      expect(page.raw).not.toMatch(/\son\w+\s*=|javascript:/i);
    });

    it('serves each file that the page loads', async () => {
      const page = (await get(origin, '/api/docs')).raw;
      const files = [...page.matchAll(/(?:src|href)="(\.[^"]+)"/g)].map(([, file = '']) => file);
      expect(files.length).toBeGreaterThan(3);
      for (const file of files) {
        expect((await get(origin, new URL(file, `${origin}/api/docs`).pathname)).status).toBe(200);
      }
    });
  });
});
