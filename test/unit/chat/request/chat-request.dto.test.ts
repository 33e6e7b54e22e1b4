import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../../../src/chat/request/chat-request.dto.js';
import { ServiceError } from '../../../../src/platform/common/service-error.js';
import { RequestValidationPipe } from '../../../../src/platform/http/request/request-validation.pipe.js';

const HELLO = { role: 'user', content: 'Hello' };
const GOOD = { model: 'acme/fast', messages: [HELLO] };

const pipe = new RequestValidationPipe();

async function problemsOf(body: object): Promise<string[]> {
  try {
    await pipe.validated(body, ChatRequest);
    return [];
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return (error.details ?? []).map(({ field, message }) => `${field} ${message}`);
  }
}

describe('a chat request', () => {
  it.each<[string, object]>([
    ['with a model and a message only', GOOD],
    ['with every role', { ...GOOD, messages: ['system', 'user', 'assistant'].map((role) => ({ ...HELLO, role })) }],
    [
      'at the limits below',
      { model: 'a/b', messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 1 },
    ],
    ['at the limits above', { model: `a/${'b'.repeat(254)}`, messages: Array(1000).fill(HELLO), temperature: 2 }],
    ['with a slash in the name of its model', { ...GOOD, model: 'acme/vendor/fast' }],
    ['with members that are undefined', { ...GOOD, temperature: undefined, max_tokens: undefined }],
  ])('%s is accepted', async (_, body) => {
    expect(await problemsOf(body)).toEqual([]);
  });

  it.each<[string, object, string[]]>([
    ['an empty object', {}, ['model must be a string', 'messages must be an array']],
    ['unknown members', { ...GOOD, stream: true, n: 1 }, ['stream is not a known member', 'n is not a known member']],
    ['a number as its model', { ...GOOD, model: 7 }, ['model must be a string']],
    ['an empty model', { ...GOOD, model: '' }, ['model must have the form <vendor>/<model_name>']],
    ['a model without a vendor', { ...GOOD, model: '/fast' }, ['model must have the form <vendor>/<model_name>']],
    ['a model without a name', { ...GOOD, model: 'acme/' }, ['model must have the form <vendor>/<model_name>']],
    ['a long model', { ...GOOD, model: `a/${'b'.repeat(255)}` }, ['model must not be longer than 256 characters']],
    [
      'a long model without a vendor',
      { ...GOOD, model: 'b'.repeat(257) },
      ['model must not be longer than 256 characters'],
    ],
    ['no temperature', { ...GOOD, temperature: null }, ['temperature must be a number']],
    ['a text as its temperature', { ...GOOD, temperature: '1' }, ['temperature must be a number']],
    ['NaN as its temperature', { ...GOOD, temperature: NaN }, ['temperature must be a number']],
    ['an infinite temperature', { ...GOOD, temperature: Infinity }, ['temperature must be a number']],
    ['a negative temperature', { ...GOOD, temperature: -0.1 }, ['temperature must be at least 0']],
    ['a high temperature', { ...GOOD, temperature: 2.1 }, ['temperature must be at most 2']],
    ['no token limit', { ...GOOD, max_tokens: null }, ['max_tokens must be an integer']],
    ['half a token', { ...GOOD, max_tokens: 1.5 }, ['max_tokens must be an integer']],
    ['a token limit of 0', { ...GOOD, max_tokens: 0 }, ['max_tokens must be at least 1']],
    ['an object as its messages', { ...GOOD, messages: { length: 1 } }, ['messages must be an array']],
    ['no messages', { ...GOOD, messages: [] }, ['messages must contain at least one message']],
    ['many messages', { ...GOOD, messages: Array(1001).fill(null) }, ['messages must contain at most 1000 messages']],
    ['a message that is null', { ...GOOD, messages: [HELLO, null] }, ['messages must contain only objects']],
    ['a message that is a list', { ...GOOD, messages: [[], HELLO] }, ['messages must contain only objects']],
    ['a message that is a text', { ...GOOD, messages: ['Hello'] }, ['messages must contain only objects']],
    [
      'messages without their members',
      { ...GOOD, messages: [HELLO, {}, { ...HELLO, role: 'tool', content: '' }] },
      [
        'messages.1.role must be one of system, user, assistant',
        'messages.1.content must be a string',
        'messages.2.role must be one of system, user, assistant',
        'messages.2.content must not be empty',
      ],
    ],
    [
      'unknown members in a message',
      { ...GOOD, messages: [{ ...HELLO, name: 'Ada', content: 7 }, HELLO] },
      ['messages.0.name is not a known member', 'messages.0.content must be a string'],
    ],
    [
      'a role alone that is unknown',
      { ...GOOD, messages: [{ ...HELLO, role: 'User' }] },
      ['messages.0.role must be one of system, user, assistant'],
    ],
    [
      'an unknown member in a message that is usual otherwise',
      { ...GOOD, messages: [{ ...HELLO, name: undefined }] },
      ['messages.0.name is not a known member'],
    ],
    [
      'a problem of every member',
      { x: 1, model: 7, temperature: 3, max_tokens: 0, messages: [{ ...HELLO, content: '' }] },
      [
        'x is not a known member',
        'model must be a string',
        'temperature must be at most 2',
        'max_tokens must be at least 1',
        'messages.0.content must not be empty',
      ],
    ],
  ])('with %s is refused, with its problems in order', async (_, body, problems) => {
    expect(await problemsOf(body)).toEqual(problems);
  });

  /** The names that every object inherits: `toString`, `__proto__`. */
  it.each([...Object.getOwnPropertyNames(Object.prototype), 'prototype'])(
    'with a member called %s is refused',
    async (name) => {
      const good = '"model":"a/b","messages":[{"role":"user","content":"Hi"';
      for (const [text, field] of [
        [`{${good}}],"${name}":false}`, name],
        [`{${good},"${name}":false}]}`, `messages.0.${name}`],
      ] as const) {
        expect(await problemsOf(JSON.parse(text) as object)).toEqual([`${field} is not a known member`]);
      }
    },
  );

  it('that is an object of its class already is validated too', async () => {
    expect(await problemsOf(Object.assign(new ChatRequest(), GOOD))).toEqual([]);
    expect(await problemsOf(Object.assign(new ChatRequest(), GOOD, { model: 7 }))).toEqual(['model must be a string']);
  });
});
