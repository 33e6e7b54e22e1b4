import { describe, expect, it } from 'vitest';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import type { Message, Tool } from '../../../src/upstreams/contract/conversation.js';
import { BuiltinProtocol } from '../../../src/upstreams/protocols/builtin/builtin.js';
import { keepSources } from '../../../src/platform/common/json/json-source.js';
import type { JsonObject } from '../../../src/upstreams/protocols/shared/json-object.js';
import { schemaJson } from '../../../src/upstreams/protocols/builtin/schema-value.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { TEST_CALL, TEST_CONTEXT, TEST_UPSTREAM } from '../../../src/testing/protocols/samples.js';

const protocol = new BuiltinProtocol({ wordDelayMs: 0 });
const tool = (name: string, parameters: object = { type: 'object' }): Tool => ({ name, parameters: { ...parameters } });
const WEATHER = tool('get_weather', {
  type: 'object',
  properties: { city: { type: 'string', enum: ['Oslo', 'Bergen'] }, days: { type: 'integer', default: 3 }, note: {} },
  required: ['city', 'days'],
});
const TIME = tool('currentTime');
const user = (content: string): Message => ({ role: 'user', content });

async function partsOf(call: Partial<ChatCall>): Promise<StreamPart[]> {
  const parts: StreamPart[] = [];
  for await (const part of protocol.stream({ ...TEST_CALL, ...call }, TEST_UPSTREAM, TEST_CONTEXT)) parts.push(part);
  return parts;
}

async function textOf(call: Partial<ChatCall>): Promise<string> {
  return (await partsOf(call)).map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** The calls as `name(arguments)`. */
async function callsOf(message: string, call: Partial<ChatCall>): Promise<string[]> {
  const calls = new Map<string, string>();
  for (const part of await partsOf({ messages: [user(message)], ...call })) {
    if (part.type === 'tool_call_start') calls.set(part.id, `${part.name}(`);
    if (part.type === 'tool_call_delta') calls.set(part.id, `${calls.get(part.id) ?? ''}${part.json}`);
    if (part.type === 'tool_call_end') calls.set(part.id, `${calls.get(part.id) ?? ''})`);
  }
  return [...calls.values()];
}

const valueOf = (schema: object): unknown => JSON.parse(schemaJson(schema as JsonObject));
const sourced = (text: string): object => {
  const body = JSON.parse(`{"schema":${text}}`) as { readonly schema: object };
  keepSources(`{"schema":${text}}`, body);
  return body.schema;
};

describe('the stand-in with tools', () => {
  const WEATHER_CALL = 'get_weather({"city":"Oslo","days":3})';
  const both = { tools: [WEATHER, TIME] };

  it.each<[string, Partial<ChatCall>, string[]]>([
    ['What is the weather?', both, [WEATHER_CALL]],
    ['What TIME is it?', both, ['currentTime({})']],
    ['The time and the weather, please', both, [WEATHER_CALL]],
    ['The time and the weather, please', { ...both, parallelToolCalls: true }, [WEATHER_CALL, 'currentTime({})']],
    ['The time and the weather, please', { ...both, parallelToolCalls: false }, [WEATHER_CALL]],
    ['Sometimes I get lost', both, []],
    ['What is the weather?', { ...both, toolChoice: 'none' }, []],
    ['Hello', { ...both, toolChoice: 'required' }, [WEATHER_CALL]],
    ['What time is it?', { ...both, toolChoice: 'required' }, ['currentTime({})']],
    ['What is the weather?', { ...both, toolChoice: { tool: 'currentTime' } }, ['currentTime({})']],
    ['What is the weather?', {}, []],
  ])('on the message %j with %o, calls %j', async (message, call, expected) => {
    expect(await callsOf(message, call)).toEqual(expected);
  });

  it('reports the tokens and the finish reason of its calls', async () => {
    const parts = await partsOf({ messages: [user('What time is it?')], ...both });
    expect(parts.map(({ type }) => type)).toEqual([
      ...['tool_call_start', 'tool_call_delta', 'tool_call_end', 'usage', 'finish', 'complete'],
    ]);
    expect(parts.at(-3)).toEqual({ type: 'usage', usage: { inputTokens: 6, outputTokens: 2 } });
    expect(parts.at(-2)).toEqual({ type: 'finish', reason: 'tool_calls', raw: 'tool_calls' });
  });

  it('does not end a call that the limit of tokens cuts', async () => {
    const parts = await partsOf({ messages: [user('The weather')], ...both, maxTokens: 2 });
    expect(parts.map(({ type }) => type)).toEqual([
      ...['tool_call_start', 'tool_call_delta', 'usage', 'finish', 'complete'],
    ]);
    expect(parts.at(-2)).toMatchObject({ reason: 'length' });
  });

  it('answers the results with a text that contains them', async () => {
    const messages: Message[] = [
      user('What is the weather?'),
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'a', name: 'get_weather', json: '{}' },
          { type: 'tool_call', id: 'b', name: 'currentTime', json: '{}' },
        ],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'a', content: 'sunny, 21 °C' },
          { toolCallId: 'b', content: [{ type: 'text', text: 'no clock' }], isError: true },
        ],
      },
    ];
    expect(await textOf({ messages, ...both })).toBe(
      'The tool get_weather returned: sunny, 21 °C\nThe tool currentTime failed with: no clock',
    );
  });
});

describe('the stand-in with images', () => {
  it('answers with the type and the size of each', async () => {
    const url = `data:image/png;base64,${Buffer.from('seventeen bytes..').toString('base64')}`;
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image', url },
      { type: 'image', url: 'https://example.com/a.webp', mediaType: 'image/webp' },
    ] as const;
    const text = await textOf({ messages: [{ role: 'user', content }] });
    expect(text).toContain('image/png with 17 bytes');
    expect(text).toContain('image/webp at a URL');
  });
});

describe('the stand-in with a response format', () => {
  it('answers with any object, or with a value that fits the schema', async () => {
    expect(JSON.parse(await textOf({ messages: [user('echo hi')], responseFormat: { type: 'json' } }))).toEqual({
      answer: 'hi',
    });
    const responseFormat = { type: 'json_schema', name: 'a', schema: WEATHER.parameters } as const;
    expect(JSON.parse(await textOf({ responseFormat }))).toEqual({ city: 'Oslo', days: 3 });
  });

  it.each([
    ['"minimum":2512292042121000001', '2512292042121000001'],
    ['"exclusiveMinimum":2512292042121000001', '2512292042121000002'],
    ['"multipleOf":2512292042121000001', '2512292042121000001'],
    ['"maximum":-2512292042121000001', '-2512292042121000001'],
    ['"exclusiveMaximum":-2512292042121000001', '-2512292042121000002'],
    ['"maximum":2512292042121000001', '1'],
    ['"exclusiveMinimum":10.0,"multipleOf":1e1', '20'],
  ])('keeps the digits of %s', (member, json) => {
    expect(schemaJson(sourced(`{"type":"integer",${member}}`) as JsonObject)).toBe(json);
  });

  it.each<[object, unknown]>([
    [{ type: 'string' }, 'text'],
    [{ type: 'string', minLength: 6 }, 'textxx'],
    [{ type: 'string', maxLength: 2 }, 'te'],
    [{ type: 'string', format: 'date' }, '2026-01-01'],
    [{ type: ['null', 'boolean'] }, true],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'integer', maximum: -2 }, -2],
    [{ type: 'integer', exclusiveMinimum: 5 }, 6],
    [{ type: 'number', multipleOf: 5, minimum: 7 }, 10],
    [{ type: 'null' }, null],
    [{ const: 7 }, 7],
    [{ enum: ['a', 'b'], default: 'b' }, 'a'],
    [{ type: 'array', items: { type: 'number' } }, [1]],
    [{ type: 'array', items: { type: 'number' }, minItems: 2 }, [1, 1]],
    [{ type: 'array' }, []],
    [{ anyOf: [{ type: 'boolean' }, { type: 'null' }] }, true],
    [{ allOf: [{ type: 'object', properties: { a: { const: 1 } }, required: ['a'] }] }, { a: 1 }],
    [{ type: 'object', properties: { a: { type: 'object', required: ['b'] } }, required: ['a'] }, { a: { b: 'text' } }],
    [{ $ref: '#/$defs/city', $defs: { city: { enum: ['Oslo'] } } }, 'Oslo'],
    [{ properties: { a: {} } }, {}],
  ])('makes of the schema %j the value %j', (schema, value) => {
    expect(valueOf({ ...schema })).toEqual(value);
  });

  it.each(['const', 'default', 'minimum'])('keeps the digits of %s', (member) => {
    const text = `{"schema":{"type":"object","properties":{"id":{"type":"integer","${member}":2512292042121000001}},"required":["id"]}}`;
    const sent = JSON.parse(text) as { schema: object };
    keepSources(text, sent);
    expect(schemaJson(sent.schema as JsonObject)).toBe('{"id":2512292042121000001}');
  });

  it('fits schemas that refer to themselves, if they can end', () => {
    const $defs = {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
        required: ['name', 'children'],
      },
      'a/b': {
        type: 'object',
        properties: { value: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/a~1b' }, { type: 'null' }] } },
        required: ['value', 'next'],
      },
    };
    const schema = {
      type: 'object',
      properties: { tree: { $ref: '#/$defs/node' }, list: { $ref: '#/$defs/a~1b' } },
      required: ['tree', 'list'],
      $defs,
    };
    const { tree, list } = valueOf(schema) as { tree: unknown; list: unknown };
    const isNode = (node: unknown): boolean => {
      const { name, children } = node as { name: unknown; children: unknown[] };
      return typeof name === 'string' && children.every(isNode);
    };
    const isList = (node: unknown): boolean => {
      if (node === null) return true;
      const { value, next } = node as { value: unknown; next: unknown };
      return Number.isInteger(value) && isList(next);
    };
    expect([isNode(tree), isList(list)]).toEqual([true, true]);
  });

  it('ends with a schema that refers to itself', () => {
    const own = { $ref: '#' };
    const value = valueOf({ type: 'object', properties: { a: own, b: own }, required: ['a', 'b'] });
    expect(JSON.stringify(value).length).toBeLessThan(20_000);
  });
});

describe('the stand-in with reasoning', () => {
  it('reasons in a few words with a signature, if reasoning is wanted', async () => {
    const types = async (reasoning: ChatCall['reasoning']) =>
      (await partsOf({ reasoning })).filter((part) => part.type === 'reasoning');
    const parts = await types({ effort: 'low' });
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.at(-1)).toMatchObject({ text: '', signature: expect.stringMatching(/.{20}/) as unknown });
    expect([await types({ effort: 'none' }), await types(undefined)]).toEqual([[], []]);
  });
});
