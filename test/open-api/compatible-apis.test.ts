import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callParts, COMPLETE, say, ScriptedModel, USAGE } from '../e2e/compatible/scripted-model.js';
import { checkerOf, checkerOfAnswer } from './documented.js';
import type { OpenApiDocument } from './open-api-shape.js';

const CHAT = '/api/v1/chat/completions';
const RESPONSES = '/api/v1/responses';
const MESSAGES = '/api/v1/messages';
const COUNT = '/api/v1/messages/count_tokens';

const IMAGE =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } } };
const ANSWER = [
  { type: 'reasoning' as const, text: 'The user greets.' },
  say('Hello!'),
  ...callParts('call_1', 'weather', '{"city":"Oslo"}'),
  USAGE,
  COMPLETE,
];

const user = { role: 'user', content: 'Hello!' };
const chat = (members: object = {}) => ({ model: 'acme/fast', messages: [user], ...members });
const responses = (members: object = {}) => ({ model: 'acme/fast', input: 'Hello!', ...members });
const messages = (members: object = {}) => ({ model: 'acme/fast', max_tokens: 100, messages: [user], ...members });

const CHAT_TOOL = { type: 'function', function: { name: 'weather', parameters: PARAMETERS } };
const RESPONSES_TOOL = { type: 'function', name: 'weather', parameters: PARAMETERS };
const MESSAGES_TOOL = { name: 'weather', input_schema: PARAMETERS };

const ACCEPTED: readonly (readonly [path: string, body: object])[] = [
  [CHAT, chat({ temperature: 0, top_p: 1, stop: 'END', seed: 1, stream_options: { include_usage: true } })],
  [CHAT, chat({ stop: ['a', 'b'], max_tokens: 10, max_completion_tokens: null })],
  [CHAT, chat({ tools: [CHAT_TOOL], tool_choice: { type: 'function', function: { name: 'weather' } } })],
  [CHAT, chat({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: PARAMETERS } } })],
  [CHAT, chat({ user: 'A member without an effect.' })],
  [
    CHAT,
    chat({
      messages: [
        { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: IMAGE, detail: 'low' } }] },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Rain.' },
      ],
      tools: [CHAT_TOOL],
    }),
  ],
  [RESPONSES, responses({ instructions: 'Be brief.', reasoning: { effort: 'low', summary: 'auto' }, store: false })],
  [RESPONSES, responses({ tools: [RESPONSES_TOOL], tool_choice: { type: 'function', name: 'weather' } })],
  [
    RESPONSES,
    responses({
      tools: [RESPONSES_TOOL],
      tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'weather' }], mode: 'auto' },
    }),
  ],
  [RESPONSES, responses({ text: { format: { type: 'json_schema', name: 'a', schema: PARAMETERS } } })],
  [
    RESPONSES,
    responses({
      input: [
        { role: 'system', content: 'Be brief.' },
        { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: IMAGE }] },
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Weather.' }] },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Rain.' },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Rain.' }] },
        user,
      ],
    }),
  ],
  [MESSAGES, messages({ system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] })],
  [MESSAGES, messages({ tools: [MESSAGES_TOOL], tool_choice: { type: 'tool', name: 'weather' } })],
  [MESSAGES, messages({ thinking: { type: 'enabled', budget_tokens: 2_000 }, mcp_servers: [], max_tokens: 4_000 })],
  [MESSAGES, messages({ output_config: { effort: 'low', format: { type: 'json_schema', schema: PARAMETERS } } })],
  [
    MESSAGES,
    messages({
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: 'Rain.' }] }],
        },
      ],
      tools: [MESSAGES_TOOL],
    }),
  ],
  [COUNT, { model: 'acme/fast', messages: [user], tools: [MESSAGES_TOOL] }],
];

const REFUSED: readonly (readonly [path: string, body: object])[] = [
  [CHAT, { messages: [user] }],
  [CHAT, { model: 'acme/fast' }],
  [CHAT, chat({ messages: [] })],
  [CHAT, chat({ messages: [{ role: 'robot', content: 'Hello!' }] })],
  [CHAT, chat({ messages: [{ role: 'user' }] })],
  [CHAT, chat({ temperature: 2.1 })],
  [CHAT, chat({ temperature: '1' })],
  [CHAT, chat({ max_completion_tokens: 0 })],
  [CHAT, chat({ stop: [1] })],
  [CHAT, chat({ tools: [{ type: 'function' }] })],
  [CHAT, chat({ tool_choice: 'maybe' })],
  [CHAT, chat({ reasoning_effort: 'huge' })],
  [CHAT, chat({ response_format: { type: 'xml' } })],
  [CHAT, chat({ stream: 'yes' })],
  [RESPONSES, { input: 'Hello!' }],
  [RESPONSES, responses({ input: 1 })],
  [RESPONSES, responses({ input: [{ type: 'robot' }] })],
  [RESPONSES, responses({ input: [{ type: 'function_call', name: 'weather', arguments: '{}' }] })],
  [RESPONSES, responses({ tools: [{ name: 'weather' }] })],
  [RESPONSES, responses({ reasoning: { effort: 'huge' } })],
  [RESPONSES, responses({ max_output_tokens: 0 })],
  [MESSAGES, { model: 'acme/fast', messages: [user] }],
  [MESSAGES, messages({ messages: [] })],
  [MESSAGES, messages({ messages: [{ role: 'user', content: [{ type: 'document' }] }] })],
  [MESSAGES, messages({ tools: [{ name: 'weather' }] })],
  [MESSAGES, messages({ thinking: { type: 'enabled' } })],
  [MESSAGES, messages({ tool_choice: { type: 'maybe' } })],
  [COUNT, { messages: [user] }],
];

describe('the OpenAPI document about the compatible interfaces', () => {
  let model: ScriptedModel;
  let document: OpenApiDocument;

  beforeAll(async () => {
    model = await ScriptedModel.start({ requests_per_minute: 1_000 });
    document = (await (await fetch(`${model.service.origin}/api/openapi.json`)).json()) as OpenApiDocument;
  });
  afterAll(() => model.stop());

  const post = (path: string, body: object, key = model.key): Promise<Response> => {
    model.answers(...ANSWER);
    return fetch(model.service.origin + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body: JSON.stringify(body),
    });
  };
  const schemaOf = (path: string) => document.paths[path]?.post?.requestBody?.content['application/json']?.schema;
  // Requests may have more members.
  const requestChecker = (path: string) => checkerOf(document, schemaOf(path), 'open');

  it.each(ACCEPTED)('describes a request to %s that the service accepts: %j', async (path, body) => {
    expect(requestChecker(path).safeParse(body).error).toBeUndefined();
    const response = await post(path, body);
    expect([response.status, await response.text()]).toEqual([200, expect.anything()]);
  });

  it.each(REFUSED)('does not describe a request to %s that the service refuses: %j', async (path, body) => {
    expect(requestChecker(path).safeParse(body).success).toBe(false);
    expect((await post(path, body)).status).toBe(400);
  });

  it.each([CHAT, RESPONSES, MESSAGES, COUNT])('has an example for %s that the service answers', async (path) => {
    const example = document.paths[path]?.post?.requestBody?.content['application/json']?.example as object;
    expect((await post(path, example)).status).toBe(200);
  });

  const shown = { thinking: { type: 'enabled', budget_tokens: 50 } };
  it.each([
    [CHAT, chat({ tools: [CHAT_TOOL] })],
    [RESPONSES, responses({ tools: [RESPONSES_TOOL], instructions: 'Be brief.' })],
    [RESPONSES, responses({ tools: [RESPONSES_TOOL], reasoning: { summary: 'auto' } })],
    [MESSAGES, messages({ tools: [MESSAGES_TOOL], ...shown })],
    [COUNT, { model: 'acme/fast', messages: [user] }],
  ])('describes the whole answer of %s', async (path, body) => {
    const answer: unknown = await (await post(path, body)).json();
    expect(checkerOfAnswer(document, 'post', path, 200).safeParse(answer).error).toBeUndefined();
  });

  it.each([
    [CHAT, 'ChatCompletionChunk', chat({ tools: [CHAT_TOOL], stream_options: { include_usage: true } })],
    [RESPONSES, 'ResponseEvent', responses({ tools: [RESPONSES_TOOL] })],
    [RESPONSES, 'ResponseEvent', responses({ tools: [RESPONSES_TOOL], reasoning: { summary: 'auto' } })],
    [MESSAGES, 'MessageEvent', messages({ tools: [MESSAGES_TOOL], ...shown })],
  ])('describes the events of %s as %s', async (path, name, body) => {
    const text = await (await post(path, { ...body, stream: true })).text();
    const data = [...text.matchAll(/^data: (\{.*)$/gm)].map(([, json = '']) => JSON.parse(json) as unknown);
    expect(data.length).toBeGreaterThan(5);
    const checker = checkerOf(document, document.components.schemas[name]);
    for (const event of data) expect(checker.safeParse(event).error).toBeUndefined();
  });

  it.each([
    [400, CHAT, {}, undefined],
    [404, CHAT, chat({ model: 'acme/other' }), undefined],
    [401, CHAT, chat(), 'nonsense'],
    [400, RESPONSES, {}, undefined],
    [401, RESPONSES, responses(), 'nonsense'],
    [400, MESSAGES, {}, undefined],
    [404, MESSAGES, messages({ model: 'acme/other' }), undefined],
    [401, MESSAGES, messages(), 'nonsense'],
    [404, COUNT, { model: 'acme/other', messages: [user] }, undefined],
  ])('describes the error %i of %s', async (status, path, body, key) => {
    const response = await post(path, body, key);
    expect(response.status).toBe(status);
    expect(checkerOfAnswer(document, 'post', path, status).safeParse(await response.json()).error).toBeUndefined();
  });

  it.each([
    ['/api/v1/models', '/api/v1/models', {}],
    ['/api/v1/models', '/api/v1/models', { 'anthropic-version': '2023-06-01' }],
    ['/api/v1/models/{id}', '/api/v1/models/acme/fast', {}],
    ['/api/v1/models/{id}', '/api/v1/models/acme/fast', { 'anthropic-version': '2023-06-01' }],
    ['/api/v1/models/{id}', '/api/v1/models/acme/other', {}],
    ['/api/v1/models/{id}', '/api/v1/models/acme/other', { 'anthropic-version': '2023-06-01' }],
  ])(
    'describes GET %s as %s answers with the headers %j',
    async (documented, path, headers: Record<string, string>) => {
      const response = await fetch(model.service.origin + path, { headers });
      const { error } = checkerOfAnswer(document, 'get', documented, response.status).safeParse(await response.json());
      expect(error).toBeUndefined();
    },
  );

  it('names both headers with a key for these paths, and only Authorization for the others', () => {
    for (const path of [CHAT, RESPONSES, MESSAGES, COUNT]) {
      expect(document.paths[path]?.post?.security).toEqual([{ bearer: [] }, { 'x-api-key': [] }]);
    }
    expect(document.paths['/api/v1/models']?.get?.security).toContainEqual({});
    expect(document.paths['/api/v1/chat/stream']?.post?.security).toEqual([{ bearer: [] }]);
  });
});
