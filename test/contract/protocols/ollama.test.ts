import { describe, expect, it } from 'vitest';
import { OllamaProtocol, type OllamaOptions } from '../../../src/upstreams/protocols/ollama/ollama.js';
import { describeProtocol } from '../../../src/testing/protocols/describe-protocol.js';
import { TEST_CALL as HELLO, TEST_UPSTREAM as ACME } from '../../../src/testing/protocols/samples.js';
import { CHAT_BODY, fixturesOf } from './fixtures.js';

const protocol = new OllamaProtocol();

const VOCABULARY = [
  ...['model', 'message', 'role', 'assistant', 'content', 'thinking', 'tool_calls', 'function', 'done', 'done_reason'],
  ...['stop', 'length', 'load', 'unload', 'prompt_eval_count', 'eval_count', 'error', 'status', 'total_duration'],
  ...['toString', 'valueOf', '__proto__'],
];

describeProtocol({
  protocol,
  answers: fixturesOf('ollama'),
  vocabulary: VOCABULARY,
  accept: 'application/x-ndjson',
  body: CHAT_BODY,
  hasEventNames: false,
});

const asking = (call: Partial<typeof HELLO> = {}, options: OllamaOptions = {}) =>
  protocol.request({ ...HELLO, ...call }, { ...ACME, options });

const bodyOf = (call: Partial<typeof HELLO>, options: OllamaOptions = {}) =>
  JSON.parse(asking(call, options).body) as unknown;

const partsOf = (line: object) => protocol.open().parts({ event: 'message', data: JSON.stringify(line) });

describe('OllamaProtocol.request', () => {
  it.each([
    ['http://127.0.0.1:11434', 'http://127.0.0.1:11434/api/chat'],
    ['http://127.0.0.1:11434/', 'http://127.0.0.1:11434/api/chat'],
    ['https://gateway.example.com/ollama?team=a', 'https://gateway.example.com/ollama/api/chat?team=a'],
  ])('at the base URL %s posts to %s', (baseUrl, url) => {
    expect(protocol.request(HELLO, { ...ACME, options: {}, baseUrl: new URL(baseUrl) }).url.href).toBe(url);
  });

  it('requests lines of JSON, and sends a key as a bearer token', () => {
    expect(asking().headers).toMatchObject({ accept: 'application/x-ndjson', authorization: 'Bearer secret-key' });
  });

  it('sends the settings of the call among the options of the model', () => {
    const messages = [{ role: 'system' as const, content: 'Be brief.' }, ...HELLO.messages];
    expect(bodyOf({ messages, maxTokens: 50, options: { temperature: 0 } })).toStrictEqual({
      model: 'fast-1',
      messages,
      stream: true,
      options: { num_predict: 50, temperature: 0 },
    });
  });

  it('sends the options of the upstream', () => {
    expect(bodyOf({}, { num_ctx: 16_384, keep_alive: '30m' })).toMatchObject({
      keep_alive: '30m',
      options: { num_ctx: 16_384, temperature: 0.7 },
    });
  });
});

describe('the options of an upstream with the protocol ollama', () => {
  it.each([
    [{}],
    [{ num_ctx: 8_192 }],
    [{ keep_alive: 300 }],
    [{ keep_alive: -1 }],
    [{ keep_alive: '1h30m' }],
    [{ keep_alive: '-1m' }],
    [{ keep_alive: '1.5h' }],
  ])('may be %j', (options) => {
    expect(protocol.options.safeParse(options).success).toBe(true);
  });

  it.each([
    ['num_ctx', { num_ctx: 0 }],
    ['num_ctx', { num_ctx: '8192' }],
    ['keep_alive', { keep_alive: 'forever' }],
    ['keep_alive', { keep_alive: '300' }],
    ['keep_alive', { keep_alive: '' }],
  ])('have an invalid %s in %j', (name, options) => {
    expect(protocol.options.safeParse(options).error?.issues).toMatchObject([{ path: [name] }]);
  });

  it('have no other members', () => {
    expect(protocol.options.safeParse({ num_gpu: 1 }).success).toBe(false);
  });
});

describe('OllamaProtocol reading a line', () => {
  it('reads the thinking before the text of a line', () => {
    const message = { role: 'assistant', thinking: 'so', content: 'Hi' };
    expect(partsOf({ message, done: false })).toEqual([
      { type: 'reasoning', text: 'so' },
      { type: 'text', text: 'Hi' },
    ]);
  });

  it.each([
    ['stop', 'stop'],
    ['length', 'length'],
    ['brand_new', 'other'],
  ])('maps the reason %s to %s, and reads no more', (raw, reason) => {
    expect(partsOf({ done: true, done_reason: raw, prompt_eval_count: 5, eval_count: 7 })).toEqual([
      { type: 'usage', usage: { inputTokens: 5, outputTokens: 7 } },
      { type: 'finish', reason, raw },
      { type: 'complete', last: true },
    ]);
  });

  it.each(['load', 'unload'])('reads the reason %s as a failure, because there is no answer', (raw) => {
    expect(partsOf({ message: { content: '' }, done: true, done_reason: raw })).toMatchObject([
      { type: 'error', error: { code: 'upstream_error' } },
    ]);
  });

  it.each([{ done: false }, { message: { content: '' } }, { message: 'Hi' }, { message: { tool_calls: [] } }])(
    'says nothing of %j',
    (line) => {
      expect(partsOf(line)).toEqual([]);
    },
  );
});
