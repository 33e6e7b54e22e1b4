import { describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../../src/platform/config/config.js';
import type { ChatMessage } from '../../../src/upstreams/contract/protocol.js';
import { AnthropicProtocol, type AnthropicOptions } from '../../../src/upstreams/protocols/anthropic/anthropic.js';
import { describeProtocol } from '../../../src/testing/protocols/describe-protocol.js';
import { TEST_CALL as HELLO, TEST_UPSTREAM, withOptions } from '../../../src/testing/protocols/samples.js';
import { CHAT_BODY, fixturesOf } from './fixtures.js';

const protocol = new AnthropicProtocol();
const ACME = withOptions(protocol, TEST_UPSTREAM) as UpstreamConfig<AnthropicOptions>;

const VOCABULARY = [
  ...['type', 'message_start', 'message_delta', 'message_stop', 'content_block_start', 'content_block_delta', 'ping'],
  ...['message', 'usage', 'input_tokens', 'output_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'],
  ...['delta', 'content_block', 'text', 'text_delta', 'thinking_delta', 'stop_reason', 'end_turn', 'error', 'code'],
  ...['toString', 'valueOf', '__proto__'],
];

describeProtocol({ protocol, answers: fixturesOf('anthropic'), vocabulary: VOCABULARY, body: CHAT_BODY });

function bodyOf(call: Partial<typeof HELLO>): unknown {
  return JSON.parse(protocol.request({ ...HELLO, ...call }, ACME).body);
}

function asking(...messages: readonly ChatMessage[]) {
  return () => protocol.request({ ...HELLO, messages }, ACME);
}

describe('AnthropicProtocol.request', () => {
  it('sends the key and the version in headers of their own', () => {
    const { headers } = protocol.request(HELLO, ACME);
    expect(headers).toMatchObject({ 'x-api-key': 'secret-key', 'anthropic-version': '2023-06-01' });
    expect(headers).not.toHaveProperty('authorization');
  });

  it.each([
    ['https://api.anthropic.com', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1', 'https://api.anthropic.com/v1/messages'],
    ['https://api.anthropic.com/v1/', 'https://api.anthropic.com/v1/messages'],
    ['https://gateway.example.com/anthropic?team=a', 'https://gateway.example.com/anthropic/v1/messages?team=a'],
  ])('at the base URL %s posts to %s', (baseUrl, url) => {
    expect(protocol.request(HELLO, { ...ACME, baseUrl: new URL(baseUrl) }).url.href).toBe(url);
  });

  it('joins the system messages, and keeps all others in order', () => {
    const body = bodyOf({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'One' },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: 'Yes' },
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Three' },
      ],
    });
    expect(body).toMatchObject({
      system: 'Be brief.\n\nBe kind.',
      messages: [
        { role: 'user', content: 'One' },
        { role: 'user', content: 'Two' },
        { role: 'assistant', content: 'Yes' },
        { role: 'user', content: 'Three' },
      ],
    });
  });

  it('sends no system member without a system message', () => {
    expect(bodyOf({})).not.toHaveProperty('system');
  });

  it.each([
    ['only system messages', asking({ role: 'system', content: 'a' })],
    ['only an assistant message', asking({ role: 'assistant', content: 'a' })],
    [
      'an assistant message first',
      asking({ role: 'system', content: 'a' }, { role: 'assistant', content: 'b' }, { role: 'user', content: 'c' }),
    ],
  ])('refuses %s by name of the field', (_, ask) => {
    expect(ask).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ field: 'messages', message: expect.any(String) as string }],
      }),
    );
  });

  it.each([
    [{ maxTokens: 10, modelMaxOutputTokens: 64_000 }, 10],
    [{ maxTokens: undefined, modelMaxOutputTokens: 64_000 }, 64_000],
    [{ maxTokens: undefined, modelMaxOutputTokens: undefined }, 4_096],
  ])('always sends a limit: for %j it is %i', (limits, expected) => {
    expect(bodyOf(limits)).toMatchObject({ max_tokens: expected });
  });

  it('carries the limit in its own member, whatever the upstream is configured for', () => {
    const request = protocol.request(HELLO, { ...ACME, maxTokensField: 'max_completion_tokens' });
    expect(JSON.parse(request.body)).toMatchObject({ max_tokens: 4_096 });
    expect(JSON.parse(request.body)).not.toHaveProperty('max_completion_tokens');
  });

  it.each([
    [0, 0],
    [0.7, 0.7],
    [1, 1],
    [1.3, 1],
    [2, 1],
  ])('sends the temperature %d as %d', (temperature, sent) => {
    expect(bodyOf({ options: { temperature } })).toMatchObject({ temperature: sent });
  });
});

describe('AnthropicProtocol.parts', () => {
  function partsOf(body: unknown, event = 'message') {
    return protocol.open().parts({ event, data: JSON.stringify(body) });
  }

  it('counts the prompt at the start, but not yet the answer', () => {
    const usage = { input_tokens: 5, cache_read_input_tokens: 20, cache_creation_input_tokens: null, output_tokens: 1 };
    expect(partsOf({ type: 'message_start', message: { usage } })).toStrictEqual([
      { type: 'usage', usage: { inputTokens: 25, cachedInputTokens: 20 } },
    ]);
  });

  it('does not count a prompt of which it knows only what was cached', () => {
    const usage = { cache_read_input_tokens: 20, output_tokens: 7 };
    expect(partsOf({ type: 'message_delta', delta: {}, usage })).toStrictEqual([
      { type: 'usage', usage: { cachedInputTokens: 20, outputTokens: 7 } },
    ]);
  });

  it('is finished, but not complete, before the message stops', () => {
    const body = { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } };
    const reader = new AnthropicProtocol().open();
    const next = (value: object) => reader.parts({ event: 'message', data: JSON.stringify(value) });
    expect(next(body)).toEqual([
      { type: 'usage', usage: { outputTokens: 7 } },
      { type: 'finish', reason: 'stop', raw: 'end_turn' },
    ]);
    expect(next({ type: 'message_stop' })).toEqual([{ type: 'complete', last: true }]);
    expect(partsOf({ type: 'message_stop' })).toMatchObject([{ type: 'error', error: { code: 'upstream_error' } }]);
  });

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['tool_use', 'tool_calls'],
    ['brand_new', 'other'],
  ])('maps the stop reason %s to %s', (raw, reason) => {
    expect(partsOf({ type: 'message_delta', delta: { stop_reason: raw } })).toEqual([{ type: 'finish', reason, raw }]);
  });

  it('reads thinking as reasoning', () => {
    const delta = { type: 'thinking_delta', thinking: 'so' };
    expect(partsOf({ type: 'content_block_delta', index: 0, delta })).toEqual([{ type: 'reasoning', text: 'so' }]);
  });

  it.each([
    { type: 'thinking_delta', thinking: '' },
    { type: 'signature_delta', signature: 'x' },
    { type: 'input_json_delta', partial_json: '' },
    { type: 'citations_delta', citation: {} },
    { type: 'brand_new_delta', text: 'not the answer' },
  ])('reads the delta %j as progress', (delta) => {
    expect(partsOf({ type: 'content_block_delta', index: 0, delta })).toEqual([{ type: 'progress' }]);
  });

  it.each([
    { type: 'thinking', thinking: '' },
    { type: 'redacted_thinking' },
    { type: 'server_tool_use', name: 'web_search', input: {} },
  ])('reads the start of the block %j as progress', (block) => {
    expect(partsOf({ type: 'content_block_start', index: 0, content_block: block })).toEqual([{ type: 'progress' }]);
  });

  it.each([
    { type: 'ping' },
    { type: 'content_block_stop', index: 0 },
    { type: 'content_block_start', content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', delta: { type: 'text_delta', text: '' } },
    { type: 'message_delta', delta: { stop_reason: null } },
    { type: 'brand_new' },
  ])('says nothing of %j', (body) => {
    expect(partsOf(body)).toEqual([]);
  });

  it.each([
    ['overloaded_error', 'upstream_unavailable'],
    ['rate_limit_error', 'upstream_unavailable'],
    ['invalid_request_error', 'upstream_rejected'],
    ['request_too_large', 'upstream_rejected'],
    ['authentication_error', 'upstream_error'],
    ['permission_error', 'upstream_error'],
    ['not_found_error', 'upstream_error'],
    ['api_error', 'upstream_error'],
    ['brand_new_error', 'upstream_error'],
  ])('maps the error %s to %s', (type, code) => {
    const body = { type: 'error', error: { type, message: 'x' } };
    expect(partsOf(body)).toMatchObject([{ type: 'error', error: { code } }]);
    expect(partsOf(body, 'error')).toMatchObject([{ type: 'error', error: { code } }]);
  });
});

describe('the prompt cache of Anthropic', () => {
  /** Long enough to be cached: 4,096 UTF-16 units. */
  const LONG = 'x'.repeat(4_096);
  const MARK = { cache_control: { type: 'ephemeral' } };
  const message = (role: ChatMessage['role'], content: string): ChatMessage => ({ role, content });
  const marked = (text: string) => [{ type: 'text', text, ...MARK }];

  /** The request, with caching switched on, off, or as it is by default. */
  function sent(messages: readonly ChatMessage[], options: object = {}): { json: string; body: Body } {
    const upstream = withOptions(protocol, { ...ACME, options }) as typeof ACME;
    const json = protocol.request({ ...HELLO, messages }, upstream).body;
    return { json, body: JSON.parse(json) as Body };
  }
  interface Body {
    readonly system?: unknown;
    readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  }

  it('gets a mark at the end of a long system prompt', () => {
    const { body } = sent([message('system', LONG), message('user', 'Hello')]);
    expect(body.system).toEqual(marked(LONG));
    expect(body.messages).toEqual([{ role: 'user', content: 'Hello' }]);
  });

  it('gets a mark at the turn before the last of a long conversation, and at no other', () => {
    const { body } = sent([
      message('system', 'Be kind.'),
      message('user', LONG),
      message('assistant', 'Hi'),
      message('user', 'And now?'),
    ]);
    expect(body.system).toBe('Be kind.');
    expect(body.messages).toEqual([
      { role: 'user', content: LONG },
      { role: 'assistant', content: marked('Hi') },
      { role: 'user', content: 'And now?' },
    ]);
  });

  it('gets both marks where both are long', () => {
    const { json, body } = sent([
      message('system', LONG),
      message('user', 'Hello'),
      message('assistant', LONG),
      message('user', 'And now?'),
    ]);
    expect(body.system).toEqual(marked(LONG));
    expect(body.messages[1]?.content).toEqual(marked(LONG));
    expect(json.split('cache_control')).toHaveLength(3);
  });

  it('gets marks in a prompt that is so long that its body is created in steps', () => {
    const longer = 'é'.repeat(100_000);
    const { body } = sent([message('user', longer), message('assistant', longer), message('user', 'And now?')]);
    expect(body.messages[1]?.content).toEqual(marked(longer));
  });

  it.each<[string, ChatMessage[]]>([
    ['one short message', [message('user', 'Hello')]],
    ['one long message', [message('user', LONG)]],
    ['a short conversation', [message('user', 'Hello'), message('assistant', 'Hi'), message('user', LONG)]],
    ['a system prompt that is too short by one', [message('system', LONG.slice(1)), message('user', LONG)]],
  ])('changes no byte of %s', (_, messages) => {
    const { json } = sent(messages);
    expect(json).toBe(sent(messages, { prompt_caching: false }).json);
    expect(json).not.toContain('cache_control');
  });

  it('is not used where it is switched off', () => {
    const { json, body } = sent(
      [message('system', LONG), message('user', LONG), message('assistant', LONG), message('user', LONG)],
      { prompt_caching: false },
    );
    expect(json).not.toContain('cache_control');
    expect(body.system).toBe(LONG);
    expect(body.messages.map(({ content }) => content)).toEqual([LONG, LONG, LONG]);
  });

  it('is read as part of the usage', () => {
    const usage = { input_tokens: 10, cache_read_input_tokens: 200, cache_creation_input_tokens: 3_000 };
    const data = JSON.stringify({ type: 'message_start', message: { usage } });
    expect(protocol.open().parts({ event: 'message', data })).toEqual([
      { type: 'usage', usage: { inputTokens: 3_210, cachedInputTokens: 200, cacheWriteInputTokens: 3_000 } },
    ]);
  });
});
