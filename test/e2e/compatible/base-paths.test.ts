import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { routesTo } from '../../support/catalog.js';
import { setStage, type Stage } from '../../support/stage.js';

const CHAT = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hello!' }] };

describe('the base URL of a client of another API', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage.clear());

  const request = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${stage.origin}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${stage.key}`, 'content-type': 'application/json' },
    });

  it.each(['/', '/api', '/api/', '/api/v1', '/api/v1/', '/api/v1?beta=true', '/api/v1/v1'])(
    'exists for HEAD %s',
    async (path) => {
      expect((await request(path, { method: 'HEAD' })).status).toBe(200);
    },
  );

  it.each([
    ['chat/completions', CHAT],
    ['responses', { model: 'acme/fast', input: 'Hello!' }],
    ['messages', { ...CHAT, max_tokens: 100 }],
    ['messages/count_tokens', CHAT],
  ])('may have its version twice: POST /api/v1/v1/%s', async (path, body) => {
    const response = await request(`/api/v1/v1/${path}`, { method: 'POST', body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    await response.text();
  });

  it.each(['/api/v1/v1/models', '/api/v1/v1/models/acme/fast', '/api/v1/v1/models?limit=1000'])(
    'may have its version twice: GET %s',
    async (path) => {
      expect((await request(path)).status).toBe(200);
    },
  );

  it.each([
    ['POST', 'embeddings'],
    ['POST', 'completions'],
    ['GET', 'files'],
    ['POST', 'v1/audio/speech'],
    ['POST', 'chat/completions/nothing'],
    ['POST', 'responses/compact'],
  ])('has errors in the format of OpenAI for a path that does not exist: %s %s', async (method, path) => {
    const response = await request(`/api/v1/${path}`, { method });
    expect(response.status).toBe(404);
    expect(response.headers.get('x-should-retry')).toBe('false');
    expect(await response.json()).toEqual({
      error: {
        message: expect.any(String) as string,
        ...{ type: 'invalid_request_error', param: null, code: 'not_found' },
        request_id: response.headers.get('x-request-id'),
      },
    });
  });

  it.each(['responses', 'chat/completions', 'messages', 'v1/responses'])('has no WebSocket at %s', async (path) => {
    const { hostname, port } = new URL(stage.origin);
    const socket = connect(Number(port), hostname);
    const answer = new Promise<string>((resolve) => {
      socket.setEncoding('latin1').once('data', resolve);
    });
    socket.write(
      `GET /api/v1/${path} HTTP/1.1\r\nHost: test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
        'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
    );
    expect(await answer).toMatch(/^HTTP\/1\.1 426 /);
    socket.destroy();
  });
});

const MODELS = [
  {
    ...{ id: 'acme/fast', name: 'Fast', provider: 'Acme', context_length: 8192, max_output_tokens: 4096 },
    ...{ aliases: ['claude-fast', 'gpt-*'], capabilities: ['tools'] },
    routes: [{ upstream: 'acme', model: 'fast-1' }],
  },
  {
    ...{ id: 'acme/wide', name: 'Wide', provider: 'Acme', context_length: 9000, aliases: ['claude-fast', 'wide'] },
    routes: [{ upstream: 'acme', model: 'wide-1' }],
  },
];

describe('the list of models', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { catalog: (providers) => ({ ...routesTo(providers), models: MODELS }) });
  });
  afterAll(() => stage.clear());

  const list = async (
    headers: Record<string, string> = {},
  ): Promise<readonly [number, { readonly data: object[] }]> => {
    const response = await fetch(`${stage.origin}/api/v1/models`, { headers });
    return [response.status, (await response.json()) as { readonly data: object[] }];
  };

  it('has the aliases, each for its model, and what a model takes', async () => {
    const fast = {
      ...{ object: 'model', created: 0, owned_by: 'Acme', name: 'Fast' },
      ...{ context_length: 8192, max_output_tokens: 4096, capabilities: ['tools'] },
    };
    const wide = {
      ...{ object: 'model', created: 0, owned_by: 'Acme', name: 'Wide', context_length: 9000, max_output_tokens: null },
      capabilities: ['images', 'tools', 'structured_output', 'reasoning'],
    };
    const [, { data }] = await list();
    expect(data).toEqual([
      { id: 'acme/fast', ...fast },
      { id: 'claude-fast', ...fast },
      { id: 'acme/wide', ...wide },
      { id: 'wide', ...wide },
    ]);
  });

  it('has the limits of tokens in the format of Anthropic', async () => {
    const [, { data }] = await list({ 'anthropic-version': '2023-06-01' });
    expect(data.slice(0, 3)).toMatchObject([
      { id: 'acme/fast', max_input_tokens: 8192, max_tokens: 4096 },
      {
        ...{ type: 'model', id: 'claude-fast', display_name: 'Fast', max_input_tokens: 8192, max_tokens: 4096 },
        capabilities: { image_input: { supported: false }, thinking: { supported: false } },
      },
      { id: 'acme/wide', max_tokens: null, capabilities: { image_input: { supported: true } } },
    ]);
  });

  it.each([
    [200, {}],
    [200, { authorization: 'Bearer ' }],
    [200, { 'x-api-key': '' }],
    [401, { authorization: 'Bearer csk_wrong' }],
    [401, { 'x-api-key': 'csk_wrong' }],
    [401, { 'x-api-key': 'csk_wrong', 'anthropic-version': '2023-06-01' }],
  ])('answers %i with the headers %j', async (status, headers) => {
    const [sent, body] = await list(headers);
    expect(sent).toBe(status);
    if (status === 401) expect(body).toMatchObject({ error: { type: 'authentication_error' } });
  });
});
