import { describe, expect, it } from 'vitest';
import { describeProtocol } from '../../../src/testing/protocols/describe-protocol.js';
import { TEST_CALL, TEST_UPSTREAM } from '../../../src/testing/protocols/samples.js';
import { withOwnState } from '../../../src/upstreams/completion/provider-state.js';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import type { Message } from '../../../src/upstreams/contract/conversation.js';
import { OpenAiResponsesProtocol } from '../../../src/upstreams/protocols/openai-responses/openai-responses.js';
import { CLOCK, conversation, IMAGE, REMOTE_IMAGE, SCHEMA, WEATHER } from './conversation.js';
import { fixturesOf } from './fixtures.js';

const protocol = new OpenAiResponsesProtocol();

const VOCABULARY = [
  ...['type', 'response.output_text.delta', 'response.output_item.added', 'response.output_item.done', 'delta', 'item'],
  ...[
    'response.function_call_arguments.delta',
    'response.function_call_arguments.done',
    'arguments',
    'call_id',
    'name',
  ],
  ...['response.reasoning_summary_text.delta', 'response.completed', 'response.incomplete', 'response.failed', 'error'],
  ...[
    'response',
    'output',
    'output_index',
    'item_id',
    'id',
    'message',
    'reasoning',
    'function_call',
    'content',
    'text',
  ],
  ...['summary', 'summary_text', 'encrypted_content', 'status', 'incomplete', 'incomplete_details', 'reason', 'code'],
  ...['max_output_tokens', 'content_filter', 'usage', 'input_tokens', 'output_tokens', 'total_tokens', 'toString'],
];

describeProtocol({
  protocol,
  answers: fixturesOf('openai-responses'),
  vocabulary: VOCABULARY,
  body: { model: 'fast-1', stream: true, store: false, input: [{ role: 'user', content: 'Hello' }] },
});

const UPSTREAM = { ...TEST_UPSTREAM, options: { summaries: true } };
const REASONING = { id: 'rs_1', type: 'reasoning', encrypted_content: 'gAAAAAB==', summary: [] };

function bodyOf(given: Partial<ChatCall>, upstream = UPSTREAM): Record<string, unknown> {
  const call = { ...TEST_CALL, options: {}, ...given };
  const owner = { protocol: protocol.name, upstream: 'acme', isBound: () => true };
  const messages = withOwnState(call.messages, owner);
  return JSON.parse(protocol.request({ ...call, messages }, upstream).body) as Record<string, unknown>;
}

describe('the request of the protocol openai-responses', () => {
  it('posts to /responses, keeps nothing at the provider, and asks for the encrypted reasoning', () => {
    const { url, headers } = protocol.request(TEST_CALL, {
      ...UPSTREAM,
      baseUrl: new URL('https://a.example/v1'),
    });
    expect(url.href).toBe('https://a.example/v1/responses');
    expect(headers.authorization).toBe('Bearer secret-key');
    expect(bodyOf({ options: { temperature: 0.7 }, maxTokens: 100, user: 'person-1' })).toEqual({
      ...{ model: 'fast-1', input: [{ role: 'user', content: 'Hello' }], stream: true, store: false },
      ...{ include: ['reasoning.encrypted_content'], temperature: 0.7, max_output_tokens: 100 },
      safety_identifier: 'person-1',
    });
  });

  it('has a conversation with images, reasoning, calls and results as items', () => {
    const encrypted = `openai-responses@acme:${JSON.stringify(REASONING)}`;
    const messages = conversation('openai-responses').map((message): Message => {
      if (message.role !== 'assistant' || typeof message.content === 'string') return message;
      return { role: 'assistant', content: [{ type: 'reasoning', text: '', encrypted }, ...message.content] };
    });
    const image = { type: 'input_image', image_url: IMAGE.url, detail: 'auto' };
    expect(bodyOf({ messages })).toMatchObject({
      instructions: 'Be brief.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'What is this?' }, image] },
        REASONING,
        { role: 'assistant', content: 'I look.' },
        { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Paris"}' },
        { type: 'function_call', call_id: 'functions.clock:1', name: 'clock', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: 'Sunny' },
        {
          ...{ type: 'function_call_output', call_id: 'functions.clock:1' },
          output: [{ type: 'input_text', text: 'No clock' }, image],
        },
        { role: 'user', content: 'And now?' },
      ],
    });
  });

  it('has no reasoning without an item after it, and none of another upstream', () => {
    const content = (upstream: string) =>
      [
        { type: 'reasoning', text: 'Hm.', encrypted: `openai-responses@${upstream}:${JSON.stringify(REASONING)}` },
      ] as const;
    const text = { type: 'text', text: 'Yes.' } as const;
    const inputOf = (message: Message) => bodyOf({ messages: [message] }).input;
    expect(inputOf({ role: 'assistant', content: content('acme') })).toEqual([]);
    expect(inputOf({ role: 'assistant', content: [...content('acme'), text] })).toEqual([
      REASONING,
      { role: 'assistant', content: 'Yes.' },
    ]);
    expect(inputOf({ role: 'assistant', content: [...content('other'), text] })).toEqual([
      { role: 'assistant', content: 'Yes.' },
    ]);
  });

  it('has system messages before all others as instructions, and later ones in their place', () => {
    const system = (content: string): Message => ({ role: 'system', content });
    const user: Message = { role: 'user', content: 'Hi' };
    expect(bodyOf({ messages: [system('a'), system('b'), user, system('c')] })).toMatchObject({
      instructions: 'a\n\nb',
      input: [user, system('c')],
    });
    expect(bodyOf({ messages: [system('a')] })).toMatchObject({ input: [system('a')] });
    expect(bodyOf({ messages: [system('a')] })).not.toHaveProperty('instructions');
  });

  it('shortens an id of a call that OpenAI refuses, in the same way for its result', () => {
    const id = 'x'.repeat(100);
    const { input } = bodyOf({
      messages: [
        { role: 'assistant', content: [{ type: 'tool_call', id, name: 'f', json: '{}' }] },
        { role: 'tool', content: [{ toolCallId: id, content: 'a' }] },
      ],
    });
    const ids = (input as { call_id: string }[]).map(({ call_id }) => call_id);
    expect(ids[0]).toMatch(/^call_[\da-f]{40}$/);
    expect(ids[1]).toBe(ids[0]);
  });

  it('has tools that are strict only on demand, their choice and a schema', () => {
    const body = bodyOf({
      ...{ tools: [WEATHER, CLOCK], toolChoice: { tool: 'clock' }, parallelToolCalls: false },
      responseFormat: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true },
    });
    expect(body).toMatchObject({
      tools: [
        { type: 'function', name: 'weather', description: 'The weather.', parameters: SCHEMA, strict: false },
        { type: 'function', name: 'clock', parameters: { type: 'object' }, strict: true },
      ],
      ...{ tool_choice: { type: 'function', name: 'clock' }, parallel_tool_calls: false },
      text: { format: { type: 'json_schema', name: 'place', schema: SCHEMA, strict: true } },
    });
    expect(bodyOf({ tools: [CLOCK], toolChoice: 'required' })).toMatchObject({ tool_choice: 'required' });
    expect(bodyOf({ responseFormat: { type: 'json' } })).toMatchObject({ text: { format: { type: 'json_object' } } });
    expect(bodyOf({ responseFormat: { type: 'text' } })).not.toHaveProperty('text');
  });

  it.each([
    [{ effort: 'xhigh' }, { effort: 'xhigh' }],
    [
      { effort: 'low', include_text: true },
      { effort: 'low', summary: 'auto' },
    ],
    [{ effort: 'none', include_text: true }, { effort: 'none' }],
    [{ budget_tokens: 9_000 }, { effort: 'high' }],
    [{}, undefined],
  ] as const)('reasons with %j as %j', (reasoning, expected) => {
    expect(bodyOf({ reasoning }).reasoning).toEqual(expected);
  });

  it('asks for no summaries if the upstream says so', () => {
    const upstream = { ...UPSTREAM, options: { summaries: false } };
    expect(bodyOf({ reasoning: { effort: 'low', include_text: true } }, upstream).reasoning).toEqual({ effort: 'low' });
  });

  it('asks a model that does not reason for no reasoning', () => {
    const body = bodyOf({ modelCapabilities: ['tools'], reasoning: { effort: 'none' } });
    expect(body).not.toHaveProperty('include');
    expect(body).not.toHaveProperty('reasoning');
  });

  it('has an image at a URL, and the smallest limit that OpenAI takes', () => {
    expect(bodyOf({ messages: [{ role: 'user', content: [REMOTE_IMAGE] }], maxTokens: 1 })).toMatchObject({
      input: [{ content: [{ type: 'input_image', image_url: REMOTE_IMAGE.url }] }],
      max_output_tokens: 16,
    });
  });
});

describe('an answer of the protocol openai-responses', () => {
  const partsOf = (...events: object[]) => {
    const reader = protocol.open();
    return events.flatMap((event) => reader.parts({ event: 'message', data: JSON.stringify(event) }));
  };

  it('says nothing before the work begins', () => {
    for (const type of ['response.created', 'response.in_progress', 'response.queued']) {
      expect(partsOf({ type, response: { status: 'in_progress' } })).toEqual([]);
    }
  });

  it('keeps an item of reasoning as it is, without its status', () => {
    const summary = [{ type: 'summary_text', text: 'a' }, ...[{ type: 'summary_text', text: 'b' }]];
    const item = { ...REASONING, summary, brand: 'new' };
    expect(partsOf({ type: 'response.output_item.done', item: { ...item, status: 'completed' } })).toEqual([
      { type: 'reasoning', text: 'a\n\nb', encrypted: JSON.stringify(item) },
    ]);
  });

  it('keeps the reasoning text of open models, and no item that only the storage of the provider can read', () => {
    const content = [{ type: 'reasoning_text', text: 'Hm.' }];
    const [open] = partsOf({ type: 'response.output_item.done', item: { id: 'r', type: 'reasoning', content } });
    expect(open).toMatchObject({ type: 'reasoning', text: 'Hm.', encrypted: expect.stringContaining('Hm.') as string });
    const stored = { ...REASONING, encrypted_content: null, summary: [{ type: 'summary_text', text: 'a' }] };
    expect(partsOf({ type: 'response.output_item.done', item: stored })).toEqual([{ type: 'reasoning', text: 'a' }]);
  });
});
