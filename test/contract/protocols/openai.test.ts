import { describe, expect, it } from 'vitest';
import { OpenAiProtocol } from '../../../src/upstreams/protocols/openai/openai.js';
import { describeProtocol } from '../../../src/testing/protocols/describe-protocol.js';
import { TEST_CALL as HELLO, TEST_UPSTREAM as ACME } from '../../../src/testing/protocols/samples.js';
import { CHAT_BODY, fixturesOf } from './fixtures.js';

const protocol = new OpenAiProtocol();

const VOCABULARY = [
  ...['object', 'error', 'choices', 'index', 'delta', 'content', 'type', 'text', 'thinking', 'finish_reason', 'stop'],
  ...['usage', 'prompt_tokens', 'completion_tokens', 'x_groq', 'reasoning', 'reasoning_content', 'reasoning_details'],
  ...['tool_calls', 'message', 'code', 'status', 'metadata', 'error_type', 'abort', 'toString', 'valueOf', '__proto__'],
];

describeProtocol({ protocol, answers: fixturesOf('openai'), vocabulary: VOCABULARY, body: CHAT_BODY });

function partsOf(chunk: unknown) {
  return protocol.open().parts({ event: 'message', data: JSON.stringify(chunk) });
}

function chunk(delta: unknown, finishReason: string | null = null) {
  return { choices: [{ index: 0, delta, finish_reason: finishReason }] };
}

describe('OpenAiProtocol.request', () => {
  it('sends the parameters of the caller, and the key as a bearer token', () => {
    const request = protocol.request(
      { ...HELLO, maxTokens: 100 },
      { ...ACME, baseUrl: new URL('https://api.example.com/v1') },
    );
    expect(request.url.href).toBe('https://api.example.com/v1/chat/completions');
    expect(request.headers.authorization).toBe('Bearer secret-key');
    expect(JSON.parse(request.body)).toEqual({
      model: 'fast-1',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: true,
      temperature: 0.7,
      max_tokens: 100,
      stream_options: { include_usage: true },
    });
  });

  it.each([
    ['https://api.example.com', 'https://api.example.com/chat/completions'],
    ['https://api.example.com/v1/', 'https://api.example.com/v1/chat/completions'],
    ['http://localhost:11434/v1//', 'http://localhost:11434/v1/chat/completions'],
    [
      'https://acme.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21',
      'https://acme.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=2024-10-21',
    ],
  ])('at the base URL %s posts to %s', (baseUrl, url) => {
    expect(protocol.request(HELLO, { ...ACME, baseUrl: new URL(baseUrl) }).url.href).toBe(url);
  });

  it('carries the token limit in the member that the provider wants', () => {
    const request = protocol.request({ ...HELLO, maxTokens: 9 }, { ...ACME, maxTokensField: 'max_completion_tokens' });
    expect(JSON.parse(request.body)).toMatchObject({ max_completion_tokens: 9 });
    expect(JSON.parse(request.body)).not.toHaveProperty('max_tokens');
  });

  it('leaves out a limit that is not set, and the option that some servers refuse', () => {
    const body: unknown = JSON.parse(protocol.request(HELLO, { ...ACME, includeUsage: false }).body);
    expect(body).not.toHaveProperty('max_tokens');
    expect(body).not.toHaveProperty('stream_options');
  });

  it('sends a temperature of 0', () => {
    expect(JSON.parse(protocol.request({ ...HELLO, options: { temperature: 0 } }, ACME).body)).toMatchObject({
      temperature: 0,
    });
  });

  it('lets a configured credential replace the key', () => {
    const request = protocol.request(HELLO, { ...ACME, headers: { Authorization: 'Basic abc' } });
    expect(request.headers.authorization).toBe('Basic abc');
  });
});

describe('OpenAiProtocol.parts', () => {
  it('returns all parts of one event, in order', () => {
    const parts = partsOf({ ...chunk({ content: 'Hi' }, 'stop'), usage: { prompt_tokens: 1, completion_tokens: 2 } });
    expect(parts).toEqual([
      { type: 'text', text: 'Hi' },
      { type: 'usage', usage: { inputTokens: 1, outputTokens: 2 } },
      { type: 'finish', reason: 'stop', raw: 'stop' },
      { type: 'complete', last: false },
    ]);
  });

  it('keeps the text and the counts that come with a failure', () => {
    const parts = partsOf({
      ...chunk({ content: 'Hi' }, 'error'),
      usage: { prompt_tokens: 1, completion_tokens: 2 },
      error: { message: 'gone', code: 502 },
    });
    expect(parts.map(({ type }) => type)).toEqual(['text', 'usage', 'error']);
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['model_length', 'length'],
    ['content_filter', 'content_filter'],
    ['tool_calls', 'tool_calls'],
    ['function_call', 'tool_calls'],
    ['anything_else', 'other'],
  ])('maps the finish reason %s to %s', (raw, reason) => {
    expect(partsOf(chunk({}, raw))).toEqual([
      { type: 'finish', reason, raw },
      { type: 'complete', last: false },
    ]);
  });

  it.each([
    ['error', 'upstream_error'],
    ['abort', 'upstream_error'],
    ['network_error', 'upstream_error'],
    ['insufficient_system_resource', 'upstream_unavailable'],
  ])('reads the finish reason %s as a failure', (raw, code) => {
    expect(partsOf(chunk({}, raw))).toMatchObject([{ type: 'error', error: { code } }]);
  });

  it.each([null, '', undefined])('is not finished by the finish reason %j', (finishReason) => {
    expect(partsOf({ choices: [{ index: 0, delta: {}, finish_reason: finishReason }] })).toEqual([]);
  });

  it.each([
    { reasoning_content: 'so' },
    { reasoning: 'so', content: '' },
    { thinking: 'so', content: null },
    { reasoning: 'so', reasoning_content: 'so' },
    { reasoning: 'so', reasoning_details: [{ type: 'reasoning.text', text: 'so' }] },
    { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'so' }] }] },
  ])('reads %j as reasoning, not as text', (delta) => {
    expect(partsOf(chunk(delta))).toEqual([{ type: 'reasoning', text: 'so' }]);
  });

  it('returns reasoning before the text of the same delta', () => {
    expect(partsOf(chunk({ reasoning: 'so', content: 'a' }))).toEqual([
      { type: 'reasoning', text: 'so' },
      { type: 'reasoning', text: '', signature: 'reasoning' },
      { type: 'text', text: 'a' },
    ]);
  });

  it.each([
    { reasoning_details: [{ type: 'reasoning.encrypted', data: 'x' }] },
    { tool_calls: [{ index: 0 }] },
    { content: [{ type: 'reference', reference_ids: [1], text: 'not the answer' }] },
  ])('reads %j as progress, not as text', (delta) => {
    expect(partsOf(chunk(delta))).toEqual([{ type: 'progress' }]);
  });

  it.each([
    { role: 'assistant' },
    { role: 'assistant', content: '' },
    { content: null, reasoning_content: null, tool_calls: null },
    { content: '', reasoning_content: '', tool_calls: [] },
    { content: [] },
    {},
  ])('says nothing of the delta %j', (delta) => {
    expect(partsOf(chunk(delta))).toEqual([]);
  });

  it('counts progress in addition to counts of tokens', () => {
    const parts = partsOf({ ...chunk({ tool_calls: [{}] }), usage: { prompt_tokens: 3, completion_tokens: 1 } });
    expect(parts.map(({ type }) => type)).toEqual(['progress', 'usage']);
  });

  it.each([
    ['that leaves the reasoning out', { prompt_tokens: 32, completion_tokens: 9, total_tokens: 135 }, 103],
    ['that includes the reasoning', { prompt_tokens: 32, completion_tokens: 103, total_tokens: 135 }, 103],
    ['that includes more than the answer', { prompt_tokens: 32, completion_tokens: 103, total_tokens: 41 }, 9],
    ['that is missing', { prompt_tokens: 32, total_tokens: 135 }, 103],
    ['without a total', { prompt_tokens: 32, completion_tokens: 9 }, 9],
    ['with a total that is too small', { prompt_tokens: 32, completion_tokens: 9, total_tokens: 10 }, 9],
    ['with a total that is no count', { prompt_tokens: 32, completion_tokens: 9, total_tokens: 99.5 }, 9],
  ])('lets the total decide on a count %s', (_, usage, outputTokens) => {
    expect(partsOf({ choices: [], usage })).toEqual([{ type: 'usage', usage: { inputTokens: 32, outputTokens } }]);
  });

  it('computes the prompt tokens from the total if only they are missing', () => {
    const usage = { completion_tokens: 9, total_tokens: 41 };
    expect(partsOf({ choices: [], usage })).toEqual([{ type: 'usage', usage: { inputTokens: 32, outputTokens: 9 } }]);
  });

  it('adds reasoning that cannot be a part of the answer, unless there is a total', () => {
    const usage = { prompt_tokens: 32, completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 94 } };
    const counts = { inputTokens: 32, outputTokens: 103, reasoningOutputTokens: 94 };
    expect(partsOf({ choices: [], usage })).toEqual([{ type: 'usage', usage: counts }]);
    expect(partsOf({ choices: [], usage: { ...usage, total_tokens: 135 } })).toEqual([
      { type: 'usage', usage: counts },
    ]);
  });

  it.each([
    ['OpenAI', { prompt_tokens_details: { cached_tokens: 6 } }, { cachedInputTokens: 6 }],
    ['DeepSeek', { prompt_cache_hit_tokens: 6, prompt_cache_miss_tokens: 26 }, { cachedInputTokens: 6 }],
    [
      'OpenRouter',
      { prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 20 } },
      { cachedInputTokens: 6, cacheWriteInputTokens: 20 },
    ],
    ['Moonshot', { cached_tokens: 6 }, { cachedInputTokens: 6 }],
    ['LiteLLM', { cache_creation_input_tokens: 20 }, { cacheWriteInputTokens: 20 }],
  ])('reads the tokens of the cache as %s names them', (_, members, counts) => {
    const usage = { prompt_tokens: 32, completion_tokens: 9, ...members };
    expect(partsOf({ choices: [], usage })).toEqual([
      { type: 'usage', usage: { inputTokens: 32, outputTokens: 9, ...counts } },
    ]);
  });

  it('reads a choice without an index, and none but the first', () => {
    expect(partsOf({ choices: [{ delta: { content: 'a' } }] })).toEqual([{ type: 'text', text: 'a' }]);
    expect(partsOf({ choices: [{ index: 1, delta: { content: 'b' } }] })).toEqual([]);
  });

  it.each([
    ['the chunk', (usage: object) => ({ choices: [], usage })],
    ['x_groq', (usage: object) => ({ choices: [], usage: null, x_groq: { usage } })],
    ['the choice, as Moonshot sends it', (usage: object) => ({ choices: [{ index: 0, delta: {}, usage }] })],
  ])('reads the counts in %s', (_, chunkWith) => {
    const counts = { inputTokens: 3, outputTokens: 4 };
    expect(partsOf(chunkWith({ prompt_tokens: 3, completion_tokens: 4 }))).toEqual([{ type: 'usage', usage: counts }]);
    expect(partsOf(chunkWith({ input_tokens: 3, output_tokens: 4 }))).toEqual([{ type: 'usage', usage: counts }]);
  });

  it.each([
    [{ prompt_tokens: 3 }, { inputTokens: 3 }],
    [{ prompt_tokens: null, completion_tokens: 0 }, { outputTokens: 0 }],
    [{ prompt_tokens: '3', completion_tokens: 4 }, { outputTokens: 4 }],
  ])('reads the counts %j as %j', (usage, counts) => {
    expect(partsOf({ choices: [], usage })).toStrictEqual([{ type: 'usage', usage: counts }]);
  });

  it.each([null, {}, [], 'none', { prompt_tokens: null }])('makes no counts of %j', (usage) => {
    expect(partsOf({ choices: [], usage })).toEqual([]);
  });

  it.each(['[DONE]', ' [DONE]', '[DONE] \r', '[DONE]\n[DONE]'])('reads %j as the end after a reason', (data) => {
    const reader = protocol.open();
    expect(reader.parts({ event: 'message', data })).toMatchObject([
      { type: 'error', error: { code: 'upstream_error' } },
    ]);
    reader.parts({ event: 'message', data: JSON.stringify({ choices: [{ delta: {}, finish_reason: 'stop' }] }) });
    expect(reader.parts({ event: 'message', data })).toEqual([{ type: 'complete', last: true }]);
  });

  it.each([null, false, '', 0])('sees no failure in an error member of %j', (error) => {
    expect(partsOf({ ...chunk({ content: 'a' }), error })).toEqual([{ type: 'text', text: 'a' }]);
  });

  it.each([
    [{ message: 'x', type: 'server_error', code: null }, 'upstream_error'],
    [{ message: 'x', code: 502 }, 'upstream_error'],
    [{ message: 'x', code: 429 }, 'upstream_unavailable'],
    [{ message: 'x', code: '529' }, 'upstream_unavailable'],
    [{ message: 'x', code: 503, status: 'UNAVAILABLE' }, 'upstream_unavailable'],
    [{ message: 'x', type: 'insufficient_quota', code: 'insufficient_quota' }, 'upstream_unavailable'],
    [{ message: 'x', type: 'requests', code: 'rate_limit_exceeded' }, 'upstream_unavailable'],
    [{ message: 'x', type: 'RateLimitError' }, 'upstream_unavailable'],
    [{ message: 'x', type: 'server_overloaded' }, 'upstream_unavailable'],
    [{ message: 'x', type: 'invalid_request_error', code: 'context_length_exceeded' }, 'upstream_rejected'],
    [{ message: 'x', type: 'exceed_context_size_error', code: 400 }, 'upstream_rejected'],
    [{ message: 'x', type: 'BadRequestError', code: 400 }, 'upstream_rejected'],
    [{ message: 'x', type: 'invalid_request_error', code: 'content_policy_violation' }, 'upstream_rejected'],
    [{ message: 'x', code: 403, metadata: { error_type: 'content_policy_violation' } }, 'upstream_rejected'],
    [{ message: 'x', type: 'invalid_request_error', code: 'invalid_api_key' }, 'upstream_error'],
    [{ message: 'x', type: 'invalid_request_error', code: 'model_not_found' }, 'upstream_error'],
    [{ message: 'x', type: 'authentication_error', code: 400 }, 'upstream_error'],
    [{ message: 'rate limit, 429, context length' }, 'upstream_error'],
    [{}, 'upstream_error'],
    ['something broke', 'upstream_error'],
    [true, 'upstream_error'],
  ])('maps the error %j to %s', (error, code) => {
    expect(partsOf({ error })).toMatchObject([{ type: 'error', error: { code } }]);
  });

  it('reads the code next to an error that is only a text', () => {
    expect(partsOf({ error: 'Model is overloaded', error_type: 'overloaded' })).toMatchObject([
      { type: 'error', error: { code: 'upstream_unavailable' } },
    ]);
  });
});
