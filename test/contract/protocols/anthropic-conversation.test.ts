import { describe, expect, it } from 'vitest';
import type { UpstreamConfig } from '../../../src/platform/config/config.js';
import { AnthropicProtocol, type AnthropicOptions } from '../../../src/upstreams/protocols/anthropic/anthropic.js';
import { TEST_CALL, TEST_UPSTREAM, withOptions } from '../../../src/testing/protocols/samples.js';
import { withOwnState } from '../../../src/upstreams/completion/provider-state.js';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import { CLOCK, conversation, IMAGE, PIXEL, REMOTE_IMAGE, SCHEMA, WEATHER, withCountedIds } from './conversation.js';

const protocol = new AnthropicProtocol();
const ACME = withOptions(protocol, TEST_UPSTREAM) as UpstreamConfig<AnthropicOptions>;
const TOOLS = [WEATHER, CLOCK];
const BYTES = Array.from('{"city":"Paris"}');

const bodyOf = (given: Partial<ChatCall>) => {
  const call = { ...TEST_CALL, options: {}, ...given };
  const messages = withOwnState(call.messages, { protocol: protocol.name, upstream: 'acme' });
  return JSON.parse(protocol.request({ ...call, messages }, ACME).body) as Record<string, unknown>;
};

describe('the request of the protocol anthropic', () => {
  it('contains a conversation with images, reasoning, tool calls and results', () => {
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } };
    expect(bodyOf({ messages: conversation('anthropic'), tools: TOOLS })).toMatchObject({
      system: 'Be brief.',
      messages: [
        { role: 'user', content: [{ type: 'text', text: 'What is this?' }, image] },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
            { type: 'text', text: 'I look.' },
            { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Paris' } },
            { type: 'tool_use', id: 'functions_clock_1', name: 'clock', input: {} },
          ],
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'call_1', content: 'Sunny' },
            {
              type: 'tool_result',
              tool_use_id: 'functions_clock_1',
              content: [{ type: 'text', text: 'No clock' }, image],
              is_error: true,
            },
            { type: 'text', text: 'And now?' },
          ],
        },
      ],
    });
  });

  it('refers to an image by its https URL', () => {
    const [message] = bodyOf({ messages: [{ role: 'user', content: [REMOTE_IMAGE] }] })['messages'] as unknown[];
    expect(message).toEqual({
      role: 'user',
      content: [{ type: 'image', source: { type: 'url', url: REMOTE_IMAGE.url } }],
    });
  });

  it('sends encrypted reasoning back', () => {
    const messages = [
      { role: 'user' as const, content: 'Hi' },
      {
        role: 'assistant' as const,
        content: [
          { type: 'reasoning' as const, text: '', encrypted: 'anthropic:secret' },
          { type: 'text' as const, text: 'Yo' },
        ],
      },
      { role: 'user' as const, content: 'Bye' },
    ];
    expect(bodyOf({ messages })['messages']).toContainEqual({
      role: 'assistant',
      content: [
        { type: 'redacted_thinking', data: 'secret' },
        { type: 'text', text: 'Yo' },
      ],
    });
  });

  it('has the tools', () => {
    expect(bodyOf({ tools: TOOLS })).toMatchObject({
      tools: [
        { name: 'weather', description: 'The weather.', input_schema: SCHEMA },
        { name: 'clock', input_schema: { type: 'object' }, strict: true },
      ],
    });
    expect(bodyOf({})).not.toHaveProperty('tools');
  });

  it.each([
    [undefined, undefined, undefined],
    ['auto', undefined, undefined],
    ['auto', false, { type: 'auto', disable_parallel_tool_use: true }],
    ['none', undefined, { type: 'none' }],
    ['required', true, { type: 'any' }],
    [{ tool: 'clock' }, false, { type: 'tool', name: 'clock', disable_parallel_tool_use: true }],
  ] as const)('has the tool choice %j with parallel calls %s as %j', (toolChoice, parallelToolCalls, expected) => {
    expect(bodyOf({ tools: TOOLS, toolChoice, parallelToolCalls })['tool_choice']).toEqual(expected);
  });

  it('has a JSON schema, and refuses JSON without one', () => {
    const responseFormat = { type: 'json_schema', name: 'place', schema: SCHEMA } as const;
    expect(bodyOf({ responseFormat })).toMatchObject({
      output_config: { format: { type: 'json_schema', schema: SCHEMA } },
    });
    expect(() => bodyOf({ responseFormat: { type: 'json' } })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ field: 'response_format', message: expect.any(String) as string }],
      }),
    );
  });

  it.each([
    [{ effort: 'low' }, 10_000, 2_000],
    [{ effort: 'high' }, 10_000, 8_000],
    [{ effort: 'minimal' }, 2_000, 1_024],
    [{ budget_tokens: 5_000 }, 10_000, 5_000],
    [{ budget_tokens: 50_000 }, 10_000, 9_999],
  ] as const)('reasons with %j and %i tokens for at most %i tokens', (reasoning, maxTokens, budget) => {
    const body = bodyOf({ reasoning, maxTokens, options: { temperature: 0.7, top_p: 0.5 } });
    expect(body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: budget }, top_p: 0.95 });
    expect(body).not.toHaveProperty('temperature');
  });

  it.each([
    [{ reasoning: { effort: 'high' } }, { type: 'adaptive' }, { effort: 'high' }],
    [{ reasoning: { effort: 'minimal' } }, { type: 'adaptive' }, { effort: 'low' }],
    [{ reasoning: { budget_tokens: 4_000 } }, { type: 'adaptive' }, { effort: 'medium' }],
    [{ reasoning: { include_text: true } }, { type: 'adaptive', display: 'summarized' }, undefined],
    [{ reasoning: { include_text: false } }, { type: 'adaptive', display: 'omitted' }, undefined],
    [{ reasoning: { effort: 'none' } }, { type: 'disabled' }, undefined],
    [{ reasoning: { effort: 'low' }, tools: TOOLS, toolChoice: 'required' }, undefined, { effort: 'low' }],
    [{}, undefined, undefined],
  ] as [Partial<ChatCall>, object | undefined, object | undefined][])(
    'gives a model that decides itself %j as %j with %j, and no options for sampling',
    (call, thinking, outputConfig) => {
      const body = bodyOf({ ...call, modelThinking: 'adaptive', options: { temperature: 0.7, top_p: 0.5 } });
      expect(body['thinking']).toEqual(thinking);
      expect(body['output_config']).toEqual(outputConfig);
      expect(Object.keys(body)).not.toEqual(expect.arrayContaining(['temperature']));
      expect(body).not.toHaveProperty('top_p');
    },
  );

  it('has the effort next to the schema', () => {
    const responseFormat = { type: 'json_schema', name: 'place', schema: SCHEMA } as const;
    expect(bodyOf({ modelThinking: 'adaptive', reasoning: { effort: 'low' }, responseFormat })).toMatchObject({
      output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
    });
  });

  it('has no text of white space only, and no white space at the end of an answer that goes on', () => {
    const body = bodyOf({
      messages: [
        { role: 'system', content: ' ' },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: '\n' },
        { role: 'user', content: [{ type: 'text', text: ' \t' }, ...[{ type: 'text' as const, text: 'Bye' }]] },
        { role: 'user', content: ' ' },
        { role: 'assistant', content: 'Well, ' },
      ],
    });
    expect(body).not.toHaveProperty('system');
    expect(body['messages']).toEqual([
      { role: 'user', content: 'Hi' },
      { role: 'user', content: [{ type: 'text', text: 'Bye' }] },
      { role: 'assistant', content: 'Well,' },
    ]);
  });

  it.each([
    ['without an effort', { reasoning: { include_text: true } }],
    ['with the effort none', { reasoning: { effort: 'none' } }],
    ['with fewer tokens than the smallest budget', { reasoning: { effort: 'high' }, maxTokens: 1_024 }],
    ['with a required call', { reasoning: { effort: 'high' }, maxTokens: 9_000, tools: TOOLS, toolChoice: 'required' }],
    [
      'after a tool call of another provider',
      { reasoning: { effort: 'high' }, maxTokens: 9_000, tools: TOOLS, messages: conversation('openai') },
    ],
  ] as [string, Partial<ChatCall>][])('does not reason %s', (_, call) => {
    expect(bodyOf(call)).not.toHaveProperty('thinking');
  });

  it('carries the marks of the client for the cache, and none of its own then', () => {
    const long = 'x'.repeat(5_000);
    const messages = [
      { role: 'system' as const, content: [{ type: 'text' as const, text: long, cache: { ttl: '1h' as const } }] },
      { role: 'user' as const, content: long },
      { role: 'assistant' as const, content: long },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'Go', cache: {} }, IMAGE] },
    ];
    const body = bodyOf({ messages, tools: [{ ...WEATHER, cache: {} }] });
    expect(JSON.stringify(body).match(/"cache_control":\{[^}]*\}/g)).toEqual([
      '"cache_control":{"type":"ephemeral","ttl":"1h"}',
      '"cache_control":{"type":"ephemeral"}',
      '"cache_control":{"type":"ephemeral"}',
    ]);
  });

  it('names the user', () => {
    expect(bodyOf({ user: 'ada' })).toMatchObject({ metadata: { user_id: 'ada' } });
  });
});

describe('an answer of the protocol anthropic', () => {
  const partsOf = (...events: object[]) => {
    const reader = protocol.open();
    return events.flatMap((event) => reader.parts({ event: 'message', data: JSON.stringify(event) }));
  };
  const start = (index: number, block: object) => ({ type: 'content_block_start', index, content_block: block });
  const delta = (index: number, change: object) => ({ type: 'content_block_delta', index, delta: change });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const json = (index: number, text: string) => delta(index, { type: 'input_json_delta', partial_json: text });

  it('has reasoning with its signature, text, and two calls in pieces', () => {
    const parts = partsOf(
      start(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      delta(0, { type: 'signature_delta', signature: 'si' }),
      delta(0, { type: 'signature_delta', signature: 'gned' }),
      stop(0),
      start(1, { type: 'redacted_thinking', data: 'secret' }),
      stop(1),
      start(2, { type: 'text', text: '' }),
      delta(2, { type: 'text_delta', text: 'I look.' }),
      stop(2),
      start(3, { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }),
      ...BYTES.map((character) => json(3, character)),
      stop(3),
      start(4, { type: 'tool_use', id: 'toolu_2', name: 'clock', input: {} }),
      stop(4),
    ).filter(({ type }) => type !== 'progress');
    expect(parts).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'reasoning', text: '', signature: 'signed' },
      { type: 'reasoning', text: '', encrypted: 'secret' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_call_start', id: 'toolu_1', name: 'weather', index: 0 },
      ...BYTES.map((character) => ({ type: 'tool_call_delta', id: 'toolu_1', json: character })),
      { type: 'tool_call_end', id: 'toolu_1' },
      { type: 'tool_call_start', id: 'toolu_2', name: 'clock', index: 0 },
      { type: 'tool_call_end', id: 'toolu_2' },
    ]);
  });

  it('has no end of a call that its provider has not ended', () => {
    const parts = partsOf(start(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }), json(0, '{"a"'), {
      type: 'message_stop',
    });
    expect(parts.map(({ type }) => type)).toEqual(['tool_call_start', 'tool_call_delta', 'error']);
  });

  it('has a call whose whole input comes with its beginning, and whose id is missing', () => {
    expect(withCountedIds(partsOf(start(0, { type: 'tool_use', name: 'f', input: { a: 1 } }), stop(0)))).toEqual([
      { type: 'tool_call_start', id: '#0', name: 'f', index: 0 },
      { type: 'tool_call_delta', id: '#0', json: '{"a":1}' },
      { type: 'tool_call_end', id: '#0' },
    ]);
  });
});
