import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { refusing } from '../../support/scripts.js';
import { setStage, type Stage } from '../../support/stage.js';

const HELLO = [{ role: 'user', content: 'Hello!' }];
const CHAT = { model: 'acme/fast', messages: HELLO };
const RESPONSE = { model: 'acme/fast', input: 'Hello!' };
const MESSAGE = { model: 'acme/fast', messages: HELLO, max_tokens: 100 };

interface OpenAiBody {
  readonly error: { readonly message: string; readonly type: string; readonly param: string | null; code: string };
}
interface AnthropicBody {
  readonly type: string;
  readonly error: { readonly type: string; readonly message: string };
  readonly request_id: string;
}

describe('the errors of the compatible interfaces', () => {
  let stage: Stage;

  beforeAll(async () => {
    stage = await setStage(1, { tiers: { free: { requests_per_minute: 1_000 } } });
  });
  afterAll(() => stage.clear());

  const send = (path: string, { body, headers, method = 'POST' }: SentRequest = {}): Promise<Response> =>
    fetch(`${stage.origin}/api/v1/${path}`, {
      method,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${stage.key}`, ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
  interface SentRequest {
    readonly body?: object | string;
    readonly headers?: Record<string, string>;
    readonly method?: string;
  }

  describe('for a prompt that the provider refuses for its length', () => {
    const refuse = (): void => {
      const message = "This model's maximum context length is 8192 tokens. Your messages have 9000 tokens.";
      const error = { message, type: 'invalid_request_error', code: 'context_length_exceeded' };
      stage.provider.next(refusing(400, {}, JSON.stringify({ error })));
    };

    it.each([
      ['chat/completions', CHAT],
      ['responses', RESPONSE],
    ])('have the code that clients of OpenAI know: %s', async (path, body) => {
      for (const stream of [false, true]) {
        refuse();
        const response = await send(path, { body: { ...body, stream } });
        const { error } = (await response.json()) as OpenAiBody;
        expect(response.status).toBe(400);
        expect(error).toMatchObject({ code: 'context_length_exceeded', type: 'invalid_request_error' });
        expect(error.message).toContain('9000');
      }
    });

    it('say so in the words that clients of Anthropic look for', async () => {
      refuse();
      const response = await send('messages', { body: MESSAGE });
      const { error } = (await response.json()) as AnthropicBody;
      expect(response.status).toBe(400);
      expect(error.type).toBe('invalid_request_error');
      expect(error.message).toContain('prompt is too long');
    });
  });

  it.each([
    ['chat/completions', { messages: HELLO }, 'model'],
    ['chat/completions', { model: 'acme/fast' }, 'messages'],
    ['chat/completions', { ...CHAT, messages: [{ content: 'Hello!' }] }, 'messages.0.role'],
    ['chat/completions', { ...CHAT, messages: [{ role: 'user' }] }, 'messages.0.content'],
    ['chat/completions', { ...CHAT, messages: [{ role: 'tool', content: 'x' }] }, 'messages.0.tool_call_id'],
    ['chat/completions', { ...CHAT, tools: [{ type: 'function' }] }, 'tools.0.function'],
    ['chat/completions', { ...CHAT, tools: [{ type: 'function', function: {} }] }, 'tools.0.function.name'],
    ['chat/completions', { ...CHAT, response_format: {} }, 'response_format.type'],
    ['responses', { input: 'Hello!' }, 'model'],
    ['responses', { model: 'acme/fast' }, 'input'],
    ['responses', { ...RESPONSE, input: [{ role: 'user' }] }, 'input.0.content'],
    ['responses', { ...RESPONSE, input: [{ type: 'function_call', call_id: 'a' }] }, 'input.0.arguments'],
    ['responses', { ...RESPONSE, input: [{ type: 'function_call_output', output: 'a' }] }, 'input.0.call_id'],
    ['responses', { ...RESPONSE, tools: [{ type: 'function' }] }, 'tools.0.name'],
  ])('of %s name a required member that is missing: %j', async (path, body, param) => {
    const response = await send(path, { body });
    const { error } = (await response.json()) as OpenAiBody;
    expect([response.status, error.param, error.message]).toEqual([400, param, `${param}: is required`]);
  });

  it.each([
    [{ max_completion_tokens: 9_000 }, 'max_completion_tokens'],
    [{ max_tokens: 9_000 }, 'max_tokens'],
    [{ max_completion_tokens: 0 }, 'max_completion_tokens'],
    [{ tools: [{ type: 'function', function: { name: 'a b' } }] }, 'tools.0.function.name'],
    [{ temperature: 3 }, 'temperature'],
  ])('of chat/completions name an invalid member as the client does: %j', async (members, param) => {
    const response = await send('chat/completions', { body: { ...CHAT, ...members } });
    const { error } = (await response.json()) as OpenAiBody;
    expect([response.status, error.param]).toEqual([400, param]);
    expect(error.message).toContain(`${param}: `);
  });

  it.each([
    [{ messages: HELLO, max_tokens: 1 }, 'model'],
    [{ model: 'acme/fast', max_tokens: 1 }, 'messages'],
    [CHAT, 'max_tokens'],
    [{ ...MESSAGE, messages: [{ role: 'user' }] }, 'messages.0.content'],
    [{ ...MESSAGE, messages: [{ role: 'user', content: [{ type: 'text' }] }] }, 'messages.0.content.0.text'],
    [{ ...MESSAGE, tools: [{ name: 'weather' }] }, 'tools.0.input_schema'],
    [{ ...MESSAGE, tools: [{ input_schema: {} }] }, 'tools.0.name'],
    [{ ...MESSAGE, thinking: { type: 'enabled' } }, 'thinking.budget_tokens'],
    [{ ...MESSAGE, tool_choice: { type: 'tool' } }, 'tool_choice.name'],
  ])('of messages name a required member that is missing: %j', async (body, member) => {
    const { error } = (await (await send('messages', { body })).json()) as AnthropicBody;
    expect(error).toEqual({ type: 'invalid_request_error', message: `${member}: is required` });
  });

  const paths = [
    ['chat/completions', CHAT],
    ['responses', RESPONSE],
    ['messages', MESSAGE],
    ['messages/count_tokens', CHAT],
  ] as const;
  const failures: readonly (readonly [name: string, status: number, request: (body: object) => SentRequest])[] = [
    ['an invalid key', 401, (body) => ({ body, headers: { authorization: 'Bearer sk-nonsense' } })],
    ['an unknown model', 404, (body) => ({ body: { ...body, model: 'claude-9' } })],
    ['invalid JSON', 400, () => ({ body: '{"model":' })],
    ['no body', 400, () => ({})],
    ['a body of another type', 415, (body) => ({ body, headers: { 'content-type': 'text/plain' } })],
    ['a body that is too large', 413, () => ({ body: 'x'.repeat(32 * 1024 * 1024 + 1) })],
    ['another method', 405, () => ({ method: 'GET' })],
  ];
  describe.each(paths)('of %s', (path, valid) => {
    it.each(failures)('have the format of the interface for %s', async (_, status, request) => {
      const response = await send(path, request(valid));
      expect(response.status).toBe(status);
      expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
      const requestId = response.headers.get('x-request-id');
      const body: unknown = await response.json();
      if (path.startsWith('messages')) {
        expect(body).toEqual({
          type: 'error',
          error: { type: expect.any(String) as string, message: expect.any(String) as string },
          request_id: requestId,
        });
        expect(response.headers.get('request-id')).toBe(requestId);
      } else {
        expect(body).toEqual({
          error: {
            message: expect.any(String) as string,
            type: status === 401 ? 'authentication_error' : 'invalid_request_error',
            param: status === 404 ? 'model' : null,
            code: expect.any(String) as string,
          },
        });
      }
    });
  });

  it('and every token count come with the limits in the words of other APIs', async () => {
    const { headers } = await send('messages/count_tokens', { body: CHAT });
    expect(headers.get('x-ratelimit-limit-requests')).toBe(headers.get('x-ratelimit-limit'));
    expect(Number(headers.get('x-ratelimit-remaining-requests'))).toBeLessThan(600);
    expect(headers.get('x-ratelimit-reset-requests')).toMatch(/^\d+s$/);
  });

  it.each(['acme/fast', 'acme%2Ffast', 'acme%2ffast'])('do not concern a model that exists: %s', async (id) => {
    for (const headers of [{}, { 'anthropic-version': '2023-06-01' }]) {
      const response = await send(`models/${id}`, { method: 'GET', headers });
      expect([response.status, await response.json()]).toEqual([200, expect.objectContaining({ id: 'acme/fast' })]);
    }
  });

  it.each(['acme', 'acme/', 'acme/fast/', 'acme//fast', 'acme/%00', 'acme/%', '%E0%A4%A', '..%2fchat%2fmodels'])(
    'have the format of the client for the model %s, which does not exist',
    async (id) => {
      const response = await send(`models/${id}`, { method: 'GET' });
      expect([400, 404]).toContain(response.status);
      expect(await response.json()).toMatchObject({ error: { type: 'invalid_request_error' } });
      const other = await send(`models/${id}`, { method: 'GET', headers: { 'anthropic-version': '2023-06-01' } });
      expect(await other.json()).toMatchObject({ type: 'error', request_id: expect.any(String) as string });
    },
  );
});
