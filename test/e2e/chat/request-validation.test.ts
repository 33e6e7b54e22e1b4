import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gzipSync } from 'node:zlib';
import { CONTEXT_LENGTH, MODEL } from '../../support/catalog.js';
import { HELLO, stream, type StreamOptions } from '../../support/sse-client.js';
import { setStage, type Stage } from '../../support/stage.js';
import { readWire } from '../../support/wire.js';

const TIER_CAP = 1000;
const MIB = 1024 * 1024;

describe('the body of a chat request', () => {
  let stage: Stage;
  let rich: string;

  beforeAll(async () => {
    stage = await setStage(1, { tiers: { free: { max_tokens: TIER_CAP }, rich: {} } });
    rich = (await stage.service.createKey({ tier: 'rich' })).key;
  });
  afterAll(() => stage.clear());

  const send = (body: StreamOptions['body'], options: StreamOptions = {}) =>
    stream(stage.origin, { key: stage.key, ...(body !== undefined && { body }), ...options });
  /** What the provider was asked, for a request whose answer came whole. */
  const taken = async (body: StreamOptions['body'], options?: StreamOptions): Promise<Record<string, unknown>> => {
    const number = stage.provider.calls.length + 1;
    expect(readWire((await send(body, options)).raw)).toMatchObject({ text: 'Hello world', terminal: 'done' });
    return (await stage.provider.call(number)).json;
  };

  async function problemsRefused(body: StreamOptions['body'], key = stage.key) {
    const answer = await send(body, { key });
    const { code, details = [] } = await answer.error();
    expect({ status: answer.status, code }).toEqual({ status: 400, code: 'invalid_request' });
    for (const { message } of details) expect(message).not.toBe('');
    return details;
  }
  const fieldsRefused = async (body: StreamOptions['body'], key?: string): Promise<string[]> =>
    (await problemsRefused(body, key)).map(({ field }) => field);

  const message = (changes: object) => ({
    messages: [
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Hi', ...changes },
    ],
  });

  it.each<[string, object, string]>([
    ['no model', { model: undefined }, 'model must be a string'],
    ['an empty model', { model: '' }, 'model must have the form <vendor>/<model_name>'],
    ['a model without a provider', { model: 'fast' }, 'model must have the form <vendor>/<model_name>'],
    ['a model without a name', { model: 'acme/' }, 'model must have the form <vendor>/<model_name>'],
    ['a model of 257 characters', { model: `a/${'b'.repeat(255)}` }, 'model must not be longer than 256 characters'],
    ['a model that is a number', { model: 1 }, 'model must be a string'],
    ['a model that is null', { model: null }, 'model must be a string'],
    ['a model that is a list', { model: [MODEL] }, 'model must be a string'],
    ['no messages', { messages: undefined }, 'messages must be an array'],
    ['messages that are null', { messages: null }, 'messages must be an array'],
    ['messages that are a text', { messages: 'Hello!' }, 'messages must be an array'],
    ['messages that are an object', { messages: { 0: HELLO.messages[0] } }, 'messages must be an array'],
    ['an empty list of messages', { messages: [] }, 'messages must contain at least one message'],
    ['an unknown role', message({ role: 'tool' }), 'messages.1.role must be one of system, user, assistant'],
    ['a role in capitals', message({ role: 'User' }), 'messages.1.role must be one of system, user, assistant'],
    ['no role', message({ role: undefined }), 'messages.1.role must be one of system, user, assistant'],
    ['a role that is a list', message({ role: ['user'] }), 'messages.1.role must be one of system, user, assistant'],
    ['empty content', message({ content: '' }), 'messages.1.content must not be empty'],
    ['no content', message({ content: undefined }), 'messages.1.content must be a string'],
    ['content that is null', message({ content: null }), 'messages.1.content must be a string'],
    ['content that is a number', message({ content: 1 }), 'messages.1.content must be a string'],
    [
      'content that is a list of parts',
      message({ content: [{ type: 'text', text: 'Hi' }] }),
      'messages.1.content must be a string',
    ],
    ['a temperature below 0', { temperature: -0.1 }, 'temperature must be at least 0'],
    ['a temperature above 2', { temperature: 2.1 }, 'temperature must be at most 2'],
    ['a temperature that is a text', { temperature: '1' }, 'temperature must be a number'],
    ['a temperature that is null', { temperature: null }, 'temperature must be a number'],
    ['a temperature that is a boolean', { temperature: true }, 'temperature must be a number'],
    ['max_tokens 0', { max_tokens: 0 }, 'max_tokens must be at least 1'],
    ['max_tokens with a fraction', { max_tokens: 1.5 }, 'max_tokens must be an integer'],
    ['max_tokens that is a text', { max_tokens: '5' }, 'max_tokens must be an integer'],
    ['max_tokens that is null', { max_tokens: null }, 'max_tokens must be an integer'],
    ['a top_p below 0', { top_p: -0.1 }, 'top_p must be at least 0'],
    ['a top_p above 1', { top_p: 1.1 }, 'top_p must be at most 1'],
    ['a top_p that is null', { top_p: null }, 'top_p must be a number'],
    ['an empty stop', { stop: '' }, 'stop must not have an empty text'],
    ['a stop without texts', { stop: [] }, 'stop must contain at least one string'],
    ['a stop of five texts', { stop: ['a', 'b', 'c', 'd', 'e'] }, 'stop must contain at most 4 strings'],
    ['a stop with an empty text', { stop: ['a', ''] }, 'stop must not have an empty text'],
    ['a stop of 257 characters', { stop: 'x'.repeat(257) }, 'stop must not have a text longer than 256 characters'],
    ['a stop that is a number', { stop: 7 }, 'stop must be a string, or an array of strings'],
    ['a stop with a number', { stop: ['a', 7] }, 'stop must be a string, or contain only strings'],
    ['a seed with a fraction', { seed: 0.5 }, 'seed must be an integer'],
    ['a seed of more than 32 bits', { seed: 2 ** 31 }, 'seed must be at most 2147483647'],
    ['a seed of less than 32 bits', { seed: -(2 ** 31) - 1 }, 'seed must be at least -2147483648'],
    ['a presence_penalty below -2', { presence_penalty: -2.1 }, 'presence_penalty must be at least -2'],
    ['a presence_penalty above 2', { presence_penalty: 2.1 }, 'presence_penalty must be at most 2'],
    ['a frequency_penalty that is a text', { frequency_penalty: '1' }, 'frequency_penalty must be a number'],
    ['an unknown member', { stream: true }, 'stream is not a known member'],
    ['an unknown member of a message', message({ name: 'Ada' }), 'messages.1.name is not a known member'],
    ['a member named as one that objects have', { toString: 'x' }, 'toString is not a known member'],
    ['a member named constructor', { constructor: {} }, 'constructor is not a known member'],
  ])('may not have %s', async (_, body, problem) => {
    const problems = await problemsRefused(body);
    expect(problems.map(({ field, message: text }) => `${field} ${text}`)).toEqual([problem]);
  });

  it('may not have a member named __proto__', async () => {
    const body = JSON.stringify(HELLO).replace('{', '{"__proto__":{"model":"other/model"},');
    expect(await fieldsRefused(body)).toEqual(['__proto__']);
  });

  it.each([[null], [1], ['Hi'], [[]], [['Hi']]])('may not have %j for a message', async (wrong) => {
    const problems = await problemsRefused({ messages: [HELLO.messages[0], wrong] });
    expect(problems).toEqual([{ field: 'messages', message: 'must contain only objects' }]);
  });

  it('may not have a temperature that JSON reads as infinite', async () => {
    expect(await fieldsRefused(JSON.stringify(HELLO).replace('{', '{"temperature":1e999,'))).toEqual(['temperature']);
  });

  it('is refused with all invalid fields at once, in order', async () => {
    const body = { model: 7, messages: [{ role: 'x', content: '' }], temperature: 3, max_tokens: 0, top_k: 1 };
    expect(await fieldsRefused(body)).toEqual([
      ...['top_k', 'model', 'temperature', 'max_tokens'],
      ...['messages.0.role', 'messages.0.content'],
    ]);
  });

  it.each(['', '{', '{"model":', 'nonsense', '"text"', 'null', '[]', '7', '{"a":1}{"b":2}'])(
    'may not be %j',
    async (body) => {
      const answer = await send(body);
      expect({ status: answer.status, code: (await answer.error()).code }).toEqual({
        status: 400,
        code: 'invalid_request',
      });
      expect(answer.raw).not.toContain('JSON.parse');
    },
  );

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/vnd.api+json',
    'application/json; charset=latin1',
  ])('may not be of type %s', async (type) => {
    const answer = await send(undefined, { headers: { 'content-type': type } });
    expect(answer.status).toBe(415);
    expect((await answer.error()).code).toBe('unsupported_media_type');
  });

  it('may say that it is UTF-8, and must be it', async () => {
    const headers = { 'content-type': 'application/json; charset=utf-8' };
    expect((await taken({}, { headers })).messages).toEqual(HELLO.messages);
    const latin1 = Buffer.from(JSON.stringify({ ...HELLO, messages: [{ role: 'user', content: 'é' }] }), 'latin1');
    expect((await send(latin1, { headers })).status).toBe(400);
  });

  it('may not be compressed', async () => {
    const answer = await send(gzipSync(JSON.stringify(HELLO)), { headers: { 'content-encoding': 'gzip' } });
    expect(answer.status).toBe(415);
    expect((await answer.error()).code).toBe('unsupported_media_type');
  });

  it.each<[string, object]>([
    ['the lowest options', { temperature: 0, max_tokens: 1 }],
    ['the highest temperature', { temperature: 2 }],
    ['every role', { messages: ['system', 'user', 'assistant', 'user'].map((role) => ({ role, content: 'x' })) }],
  ])('may have %s', async (_, body) => {
    expect(await taken(body)).toMatchObject(body);
  });

  it('may have up to 1,000 messages', async () => {
    const messages = Array.from({ length: 1000 }, () => ({ role: 'user', content: 'x' }));
    expect((await taken({ messages })).messages).toEqual(messages);
    expect(await fieldsRefused({ messages: [...messages, messages[0]] })).toEqual(['messages']);
  });

  it('may be up to 4 MiB', async () => {
    const ofSize = (bytes: number) => {
      const empty = JSON.stringify({ ...HELLO, messages: [{ role: 'user', content: '' }] });
      return empty.replace('"content":""', `"content":"${'x'.repeat(bytes - empty.length)}"`);
    };
    const { messages } = JSON.parse(ofSize(4 * MIB)) as { messages: unknown };
    expect((await taken(ofSize(4 * MIB))).messages).toEqual(messages);

    const tooLarge = await send(ofSize(4 * MIB + 1));
    expect(tooLarge.status).toBe(413);
    expect((await tooLarge.error()).code).toBe('payload_too_large');
  });

  it('is read only once the caller is known', async () => {
    const answer = await send('{', { key: undefined });
    expect(answer.status).toBe(401);
    const { code, details } = await answer.error();
    expect({ code, details }).toEqual({ code: 'unauthenticated', details: undefined });
  });

  it('may not request more tokens than the tier or the context of the model allows', async () => {
    expect(await taken({ max_tokens: TIER_CAP })).toMatchObject({ max_tokens: TIER_CAP });
    expect(await fieldsRefused({ max_tokens: TIER_CAP + 1 })).toEqual(['max_tokens']);
    const most = { max_tokens: CONTEXT_LENGTH };
    expect(await taken(most, { key: rich })).toMatchObject(most);
    expect(await fieldsRefused({ max_tokens: CONTEXT_LENGTH + 1 }, rich)).toEqual(['max_tokens']);
  });

  it('may not name a model that is not served', async () => {
    const answer = await send({ model: 'acme/other' });
    expect(answer.status).toBe(404);
    expect((await answer.error()).code).toBe('model_not_found');
  });
});
