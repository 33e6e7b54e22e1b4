import { describe, expect, it } from 'vitest';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import type { Message } from '../../../src/upstreams/contract/conversation.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { OpenAiProtocol } from '../../../src/upstreams/protocols/openai/openai.js';
import { TEST_CALL, TEST_UPSTREAM } from '../../../src/testing/protocols/samples.js';

const protocol = new OpenAiProtocol();
const PNG = 'data:image/png;base64,aGVsbG8h';
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };

function bodyOf(call: Partial<ChatCall>, upstream = TEST_UPSTREAM): Record<string, unknown> {
  return JSON.parse(protocol.request({ ...TEST_CALL, ...call }, upstream).body) as Record<string, unknown>;
}

const system = (content: string): Message => ({ role: 'system', content });
const user = (content: string): Message => ({ role: 'user', content });
const answer = (content: string): Message => ({ role: 'assistant', content });

const messagesOf = (...messages: Message[]) => bodyOf({ messages }).messages;

describe('a conversation in the form of OpenAI', () => {
  it.each<[string, Message, readonly object[]]>([
    [
      'texts of one message as one text',
      {
        role: 'system',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b', cache: {} },
        ],
      },
      [{ role: 'system', content: 'a\nb' }],
    ],
    [
      'an image by its URL',
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image', url: PNG, mediaType: 'image/png', detail: 'low' },
          { type: 'image', url: 'https://example.com/a.png' },
        ],
      },
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: PNG, detail: 'low' } },
            { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          ],
        },
      ],
    ],
    [
      'calls next to a text, without reasoning that the provider does not know',
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'hm' },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_call', id: 'a', name: 'weather', json: '{"city":"Oslo"}' },
          { type: 'tool_call', id: 'b', name: 'time', json: '{}', signature: 'opaque' },
        ],
      },
      [
        {
          role: 'assistant',
          content: 'Let me look.',
          tool_calls: [
            { id: 'a', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } },
            {
              ...{ id: 'b', type: 'function', function: { name: 'time', arguments: '{}' } },
              extra_content: { google: { thought_signature: 'opaque' } },
            },
          ],
        },
      ],
    ],
    [
      'calls without a text, with reasoning in the member that the provider has used',
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'h', signature: 'reasoning_content' },
          { type: 'reasoning', text: 'm', signature: 'reasoning_content' },
          { type: 'tool_call', id: 'a', name: 'weather', json: '{}' },
        ],
      },
      [
        {
          role: 'assistant',
          content: null,
          reasoning_content: 'hm',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'weather', arguments: '{}' } }],
        },
      ],
    ],
    ['no message of reasoning alone', { role: 'assistant', content: [{ type: 'reasoning', text: 'hm' }] }, []],
    [
      'a message for each result, and their images after them',
      {
        role: 'tool',
        content: [
          {
            toolCallId: 'a',
            content: [
              { type: 'text', text: 'A map:' },
              { type: 'image', url: PNG },
            ],
          },
          { toolCallId: 'b', content: 'It failed.', isError: true },
        ],
      },
      [
        { role: 'tool', tool_call_id: 'a', content: 'A map:' },
        { role: 'tool', tool_call_id: 'b', content: 'It failed.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Images of the result of a:' },
            { type: 'image_url', image_url: { url: PNG } },
          ],
        },
      ],
    ],
  ])('has %s', (_, message, expected) => {
    expect(messagesOf(message)).toEqual(expected);
  });

  it.each<[string, readonly Message[], readonly object[], readonly object[]]>([
    [
      'before all others',
      [system('a'), system('b'), user('Hi')],
      [system('a\n\nb'), user('Hi')],
      [system('a\n\nb'), user('Hi')],
    ],
    [
      'between a question and its answer',
      [system('a'), user('Hi'), system('b'), answer('Yo'), user('Bye')],
      [system('a'), user('Hi\n\n[System message]\nb'), answer('Yo'), user('Bye')],
      [system('a'), user('Hi'), system('b'), answer('Yo'), user('Bye')],
    ],
    [
      'after an answer',
      [user('Hi'), answer('Yo'), system('a'), user('Bye')],
      [user('Hi'), answer('Yo'), user('[System message]\na\n\nBye')],
      [user('Hi'), answer('Yo'), system('a'), user('Bye')],
    ],
    [
      'at the end',
      [user('Hi'), answer('Yo'), system('a'), system('b')],
      [user('Hi'), answer('Yo'), user('[System message]\na\n\n[System message]\nb')],
      [user('Hi'), answer('Yo'), system('a'), system('b')],
    ],
    ['alone', [system('a'), system('b')], [system('a\n\nb')], [system('a\n\nb')]],
  ])(
    'has system messages %s first or as texts of the user, or where they are if the upstream takes them',
    (...given) => {
      const [, messages, first, anywhere] = given;
      const upstream = { ...TEST_UPSTREAM, options: { system_messages: 'anywhere' as const } };
      expect(bodyOf({ messages }).messages).toEqual(first);
      expect(bodyOf({ messages }, upstream).messages).toEqual(anywhere);
    },
  );

  it('keeps the results of tools next to their calls, and images in their place', () => {
    const image = { type: 'image', url: PNG } as const;
    const call: Message = { role: 'assistant', content: [{ type: 'tool_call', id: 'a', name: 'f', json: '{}' }] };
    const result: Message = { role: 'tool', content: [{ toolCallId: 'a', content: 'x' }] };
    const messages = [user('Hi'), call, system('b'), result, { role: 'user', content: [image] } as const];
    expect(bodyOf({ messages }).messages).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      { role: 'tool' },
      { role: 'user', content: [{ type: 'text', text: '[System message]\nb' }, { type: 'image_url' }] },
    ]);
  });

  it.each([
    ['signed', { google: { thought_signature: 'signed' } }],
    ['{"vertex":{"thought_signature":"signed"}}', { vertex: { thought_signature: 'signed' } }],
  ])('gives the signature %s back where it was', (signature, extra) => {
    const content = [{ type: 'tool_call', id: 'a', name: 'f', json: '{}', signature }] as const;
    expect(messagesOf({ role: 'assistant', content })).toMatchObject([{ tool_calls: [{ extra_content: extra }] }]);
  });

  it('gives a provider that requires signatures the value of the upstream for the first call without one', () => {
    const call = { type: 'tool_call', id: 'a', name: 'f', json: '{}' } as const;
    const messages: Message[] = [{ role: 'assistant', content: [call, { ...call, id: 'b' }] }];
    const upstream = { ...TEST_UPSTREAM, options: { missing_signature: 'skip' } };
    const extra_content = { google: { thought_signature: 'skip' } };
    expect(bodyOf({ messages }, upstream).messages).toMatchObject([{ tool_calls: [{ extra_content }, { id: 'b' }] }]);
    expect(JSON.stringify(bodyOf({ messages }).messages)).not.toContain('extra_content');
  });

  it('has tools, their choice, a format and an effort', () => {
    const tool = { name: 'weather', description: 'The weather', parameters: SCHEMA, strict: true };
    const body = bodyOf({
      tools: [tool, { name: 'time', parameters: {} }],
      toolChoice: { tool: 'weather' },
      parallelToolCalls: false,
      responseFormat: { type: 'json_schema', name: 'answer', schema: SCHEMA, strict: true },
      reasoning: { effort: 'low', include_text: true },
      user: 'person-1',
    });
    expect(body).toMatchObject({
      tools: [
        { type: 'function', function: tool },
        { type: 'function', function: { name: 'time', parameters: {} } },
      ],
      tool_choice: { type: 'function', function: { name: 'weather' } },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } },
      reasoning_effort: 'low',
      user: 'person-1',
    });
  });

  it.each([
    [{ toolChoice: 'required', parallelToolCalls: true }, ['tool_choice', 'parallel_tool_calls']],
    [{ responseFormat: { type: 'text' }, reasoning: {} }, ['response_format', 'reasoning_effort']],
  ] as const)('leaves out what has no meaning: %j', (call, members) => {
    const body = bodyOf(call);
    for (const member of members) expect(body).not.toHaveProperty(member);
  });

  it.each([
    [{ effort: 'none', budget_tokens: 9 }, 'none'],
    [{ budget_tokens: 1_024 }, 'low'],
    [{ budget_tokens: 8_192 }, 'medium'],
    [{ budget_tokens: 32_000 }, 'high'],
  ] as const)('has the effort for %j', (reasoning, effort) => {
    expect(bodyOf({ reasoning }).reasoning_effort).toBe(effort);
  });

  it('has the format of any JSON', () => {
    expect(bodyOf({ responseFormat: { type: 'json' } }).response_format).toEqual({ type: 'json_object' });
  });

  it('sends reasoning without a signature to a model that has sent reasoning before', () => {
    const upstream = { ...TEST_UPSTREAM };
    const content = [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'yes' },
    ] as const;
    const messages: readonly Message[] = [{ role: 'assistant', content }];
    expect(bodyOf({ messages }, upstream).messages).toEqual([{ role: 'assistant', content: 'yes' }]);
    partsOf(protocol.open(TEST_CALL, upstream), { reasoning_content: 'so' });
    expect(bodyOf({ messages }, upstream).messages).toEqual([
      { role: 'assistant', content: 'yes', reasoning_content: 'hm' },
    ]);
    expect(bodyOf({ messages, model: 'other' }, upstream).messages).toEqual([{ role: 'assistant', content: 'yes' }]);
  });
});

function partsOf(reader: ReturnType<typeof protocol.open>, delta: object, finish: string | null = null) {
  const data = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] });
  return reader.parts({ event: 'message', data });
}

describe('an answer in the form of OpenAI', () => {
  it('keeps the ids of the provider', () => {
    const call = { index: 0, id: 'functions.weather:0', function: { name: 'weather', arguments: '{}' } };
    expect(partsOf(protocol.open(), { tool_calls: [call] })).toEqual([
      { type: 'tool_call_start', id: 'functions.weather:0', name: 'weather', index: 0 },
      { type: 'tool_call_delta', id: 'functions.weather:0', json: '{}' },
    ]);
  });

  it('makes an id where there is none, and keeps it', () => {
    const reader = protocol.open();
    const parts = [
      ...partsOf(reader, { tool_calls: [{ index: 0, function: { name: 'weather', arguments: '{' } }] }),
      ...partsOf(reader, { tool_calls: [{ index: 0, function: { arguments: '}' } }] }),
      ...partsOf(reader, {}, 'tool_calls'),
    ].filter((part): part is Extract<StreamPart, { id: string }> => 'id' in part);
    expect(parts.map(({ type }) => type)).toEqual([
      ...['tool_call_start', 'tool_call_delta', 'tool_call_delta', 'tool_call_end'],
    ]);
    expect(new Set(parts.map(({ id }) => id)).size).toBe(1);
    expect(parts[0]?.id).toMatch(/^call_[\da-f]{24}$/);
  });

  it('begins a call when its name arrives', () => {
    const reader = protocol.open();
    expect(partsOf(reader, { tool_calls: [{ index: 0, id: 'a', function: { arguments: '{' } }] })).toEqual([
      { type: 'progress' },
    ]);
    expect(partsOf(reader, { tool_calls: [{ index: 0, function: { name: 'f', arguments: '}' } }] })).toEqual([
      { type: 'tool_call_start', id: 'a', name: 'f', index: 0 },
      { type: 'tool_call_delta', id: 'a', json: '{' },
      { type: 'tool_call_delta', id: 'a', json: '}' },
    ]);
  });

  it('has the signature of a call', () => {
    const extra_content = { google: { thought_signature: 'opaque' } };
    const call = { id: 'a', function: { name: 'f', arguments: '' }, extra_content };
    expect(partsOf(protocol.open(), { tool_calls: [call] })).toEqual([
      { type: 'tool_call_start', id: 'a', name: 'f', index: 0, signature: 'opaque' },
    ]);
  });

  it('has all of the extra content of a call as its signature, if it is more than that of Gemini', () => {
    const extra_content = { vertex: { thought_signature: 'opaque' }, google: { thought_signature: 'other' } };
    const call = { id: 'a', function: { name: 'f', arguments: '' }, extra_content };
    expect(partsOf(protocol.open(), { tool_calls: [call] })).toEqual([
      { type: 'tool_call_start', id: 'a', name: 'f', index: 0, signature: JSON.stringify(extra_content) },
    ]);
  });

  it('joins the pieces of reasoning_details to the signature of the reasoning, and gives them back unchanged', () => {
    const reader = protocol.open();
    const piece = { type: 'reasoning.text', index: 0, format: 'anthropic-claude-v1' };
    partsOf(reader, { reasoning: 'so', reasoning_details: [{ ...piece, text: 'so' }] });
    partsOf(reader, { reasoning: ' on', reasoning_details: [{ ...piece, text: ' on' }] });
    partsOf(reader, { reasoning_details: [{ ...piece, signature: 'signed' }] });
    const sealed = { type: 'reasoning.encrypted', index: 1, id: 'rs_1', data: 'sealed', format: 'openai-responses-v1' };
    partsOf(reader, { reasoning_details: [sealed] });
    const details = [{ ...piece, text: 'so on', signature: 'signed' }, sealed];
    const signature = JSON.stringify(details);
    expect(partsOf(reader, { content: 'a' })).toEqual([
      { type: 'reasoning', text: '', signature },
      { type: 'text', text: 'a' },
    ]);
    expect(protocol.isBoundToUpstream(signature)).toBe(true);
    const content = [
      { type: 'reasoning', text: 'so on', signature },
      { type: 'text', text: 'a' },
    ] as const;
    expect(messagesOf({ role: 'assistant', content })).toEqual([
      { role: 'assistant', content: 'a', reasoning_details: details },
    ]);
  });

  it('keeps the extra content of a message, such as the signature of a text', () => {
    const extra_content = { google: { thought_signature: 'signed' } };
    const [part] = partsOf(protocol.open(), { content: 'a', extra_content });
    expect(part).toEqual({ type: 'reasoning', text: '', signature: JSON.stringify(extra_content) });
    const content = [part as Extract<StreamPart, { type: 'reasoning' }>, { type: 'text', text: 'a' }] as const;
    expect(messagesOf({ role: 'assistant', content })).toEqual([{ role: 'assistant', content: 'a', extra_content }]);
  });

  it('ends a call that the limit of tokens has left whole', () => {
    const reader = protocol.open();
    partsOf(reader, { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] });
    expect(partsOf(reader, {}, 'length')[0]).toEqual({ type: 'tool_call_end', id: 'a' });
  });

  it('ends the reasoning before a text, before a call and at the end, each time with the name of its member', () => {
    const reader = protocol.open();
    const end = { type: 'reasoning', text: '', signature: 'reasoning_content' };
    const think = () => partsOf(reader, { reasoning_content: 'so' });
    think();
    expect(partsOf(reader, { content: 'a' })).toEqual([end, { type: 'text', text: 'a' }]);
    expect(partsOf(reader, { content: 'a' })).toEqual([{ type: 'text', text: 'a' }]);
    think();
    expect(partsOf(reader, { content: 'a' })).toEqual([end, { type: 'text', text: 'a' }]);
    think();
    expect(partsOf(reader, { tool_calls: [{ id: 'a', function: { name: 'f' } }] })[0]).toEqual(end);
    think();
    expect(partsOf(reader, {}, 'stop')[0]).toEqual(end);
  });
});
