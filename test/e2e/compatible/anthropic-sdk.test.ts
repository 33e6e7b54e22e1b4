import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { callParts, COMPLETE, rejectionOf, PNG, PNG_URL, say, ScriptedModel, USAGE } from './scripted-model.js';

const HELLO = [{ role: 'user' as const, content: 'Hello!' }];
const WEATHER = {
  name: 'weather',
  description: 'Tells the weather.',
  input_schema: { type: 'object' as const, properties: { city: { type: 'string' } } },
};
const finish = (reason: 'stop' | 'length', raw: string = reason): StreamPart => ({ type: 'finish', reason, raw });

let model: ScriptedModel;
let client: Anthropic;

async function start(): Promise<void> {
  model = await ScriptedModel.start({ requests_per_minute: 1_000 });
  // The SDK adds /v1 itself, and sends the key as x-api-key.
  client = new Anthropic({ apiKey: model.key, baseURL: `${model.service.origin}/api`, maxRetries: 0 });
}

const defaults = { model: 'fast', max_tokens: 100, messages: HELLO };
type Body = Partial<Anthropic.MessageCreateParamsNonStreaming>;
const whole = (body: Body = {}) => client.messages.create({ ...defaults, ...body });
const streamed = (body: Body = {}) => client.messages.stream({ ...defaults, ...body });
const failureOf = rejectionOf<InstanceType<typeof Anthropic.APIError>>;

describe('the Anthropic SDK', () => {
  beforeAll(start);
  afterAll(() => model.stop());

  it('gets a whole message, with the name of the requested model, and the usage', async () => {
    model.answers(say('Hello'), say(' there'), USAGE, finish('stop'), COMPLETE);
    const message = await whole();
    expect(message).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'fast',
      content: [{ type: 'text', text: 'Hello there' }],
      stop_reason: 'end_turn',
      usage: {
        ...{ input_tokens: 8, cache_read_input_tokens: 4, output_tokens: 7 },
        output_tokens_details: { thinking_tokens: 2 },
      },
    });
    expect(message.id).toMatch(/^msg_[0-9a-f]{32}$/);
    expect(message._request_id).toMatch(/^[\w-]+$/);
    expect(model.lastCall).toMatchObject({ maxTokens: 100 });
  });

  it('gets a message by its helper for streams, in the order of the protocol', async () => {
    model.answers(say('Hel'), say('lo'), USAGE, finish('length'), COMPLETE);
    const stream = streamed();
    const types: string[] = [];
    const texts: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type)).on('text', (text) => texts.push(text));
    const message = await stream.finalMessage();
    expect(texts.join('')).toBe('Hello');
    expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
      ...['message_start', 'content_block_start', 'content_block_delta', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ]);
    expect(message).toMatchObject({ stop_reason: 'max_tokens', usage: { input_tokens: 8, output_tokens: 7 } });
    expect(stream.request_id).toMatch(/^[\w-]+$/);
  });

  it('gets estimated tokens if the provider reports none', async () => {
    model.answers(say('Hello there, how are you?'), COMPLETE);
    const { usage } = await streamed().finalMessage();
    expect(usage.input_tokens).toBeGreaterThan(0);
    expect(usage.output_tokens).toBeGreaterThan(0);
  });

  it('runs tools by its helper, which wants to store the conversation and then sends it whole', async () => {
    model.provider.answers('acme', async function* answer({ call }) {
      await Promise.resolve();
      if (call.messages.at(-1)?.role === 'tool') yield* [say('Sunny'), finish('stop'), COMPLETE];
      else yield* [...callParts('call_1', 'weather', '{"city":"Rome"}'), COMPLETE];
    });
    const tool = { ...WEATHER, run: ({ city }: { city?: string }) => `sun in ${city ?? ''}` };
    const message = await client.beta.messages.toolRunner({ ...defaults, tools: [tool] });
    expect(message.content).toMatchObject([{ type: 'text', text: 'Sunny' }]);
    expect(model.lastCall.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
  });

  it('gets the stop sequence that has ended the message', async () => {
    model.answers(say('One'), finish('stop', 'stop_sequence'), COMPLETE);
    const expected = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
    expect(await whole({ stop_sequences: ['END'] })).toMatchObject(expected);
    expect(await streamed({ stop_sequences: ['END'] }).finalMessage()).toMatchObject(expected);
    expect(model.lastCall.options.stop).toEqual(['END']);
  });

  it('calls two tools at once, streamed and whole, and sends their results back', async () => {
    const [startOne, ...restOne] = callParts('call_1', 'weather', '{"city":"Rome"}') as [StreamPart, ...StreamPart[]];
    const [startTwo, ...restTwo] = callParts('call_2', 'weather', '{"city":"Oslo"}') as [StreamPart, ...StreamPart[]];
    // The provider sends the calls side by side.
    model.answers(say('I look.'), startOne, startTwo, ...restTwo, ...restOne, COMPLETE);
    const body: Body = { tools: [WEATHER], tool_choice: { type: 'any', disable_parallel_tool_use: true } };
    const expected = {
      stop_reason: 'tool_use',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Rome' } },
        { type: 'tool_use', id: 'call_2', name: 'weather', input: { city: 'Oslo' } },
      ],
    };
    expect(await streamed(body).finalMessage()).toMatchObject(expected);
    const answer = await whole(body);
    expect(answer).toMatchObject(expected);
    expect(model.lastCall).toMatchObject({
      tools: [{ name: 'weather', description: 'Tells the weather.', parameters: WEATHER.input_schema }],
      toolChoice: 'required',
      parallelToolCalls: false,
    });

    model.answers(say('Both are sunny.'), COMPLETE);
    const { response } = await client.messages
      .create({
        ...defaults,
        tools: [WEATHER],
        messages: [
          ...HELLO,
          { role: 'assistant', content: answer.content },
          {
            role: 'user',
            content: [
              { type: 'tool_result', tool_use_id: 'call_1', content: 'sunny' },
              { type: 'tool_result', tool_use_id: 'call_2', is_error: true, content: [{ type: 'text', text: 'down' }] },
              { type: 'text', text: 'And now?' },
            ],
          },
        ],
      })
      .withResponse();
    expect(response.headers.get('x-ignored-parameters')).toBeNull();
    expect(model.lastCall.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [{ text: 'I look.' }, { type: 'tool_call', id: 'call_1', json: '{"city":"Rome"}' }, { id: 'call_2' }],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'call_1', content: 'sunny' },
          { toolCallId: 'call_2', isError: true, content: [{ type: 'text', text: 'down' }] },
        ],
      },
      { role: 'user', content: 'And now?' },
    ]);
  });

  it('sends a system prompt with cache marks, images and a JSON schema', async () => {
    model.answers(say('{"color":"red"}'), COMPLETE);
    const schema = { type: 'object', properties: { color: { type: 'string' } } };
    await whole({
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
            { type: 'image', source: { type: 'url', url: 'https://example.com/red.png' } },
            { type: 'text', text: 'Which color?' },
          ],
        },
      ],
      output_config: { format: { type: 'json_schema', schema } },
      metadata: { user_id: 'person-1' },
    });
    expect(model.lastCall).toMatchObject({
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache: {} }] },
        {
          role: 'user',
          content: [
            { type: 'image', url: PNG_URL, mediaType: 'image/png' },
            { type: 'image', url: 'https://example.com/red.png' },
            { type: 'text', text: 'Which color?' },
          ],
        },
      ],
      responseFormat: { type: 'json_schema', schema, strict: true },
      user: 'person-1',
    });
  });

  it('keeps thinking over two turns, with its proof and its encrypted form', async () => {
    model.answers(
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'think.' },
      { type: 'reasoning', text: '', signature: 'proof' },
      { type: 'reasoning', text: '', encrypted: 'sealed' },
      say('42.'),
      COMPLETE,
    );
    const body: Body = { max_tokens: 4_000, thinking: { type: 'enabled', budget_tokens: 2_000 } };
    // The service notes which protocol a proof belongs to.
    const expected = [
      { type: 'thinking', thinking: 'Let me think.', signature: 'scripted:proof' },
      { type: 'redacted_thinking', data: 'scripted:sealed' },
      { type: 'text', text: '42.' },
    ];
    const { content } = await streamed(body).finalMessage();
    expect(content).toMatchObject(expected);
    expect((await whole(body)).content).toMatchObject(expected);
    expect(model.lastCall.reasoning).toEqual({ budget_tokens: 2_000, include_text: true });
    expect((await whole()).content).toMatchObject(expected.slice(2));
    await whole({
      ...body,
      messages: [...HELLO, { role: 'assistant', content }, { role: 'user', content: 'Why?' }],
    });
    expect(model.lastCall.messages[1]).toMatchObject({
      content: [
        { type: 'reasoning', text: 'Let me think.', signature: 'proof' },
        { type: 'reasoning', text: '', encrypted: 'sealed' },
        { type: 'text', text: '42.' },
      ],
    });
  });

  it('never gets a clean end of a message that has broken off, streamed or whole', async () => {
    model.answers(say('Hel'), new ServiceError('upstream_error', 'The provider has failed.'));
    const stream = streamed();
    const types: string[] = [];
    const texts: string[] = [];
    stream.on('streamEvent', ({ type }) => types.push(type)).on('text', (text) => texts.push(text));
    expect(await failureOf(stream.finalMessage())).toMatchObject({
      type: 'api_error',
      error: { type: 'error', error: { message: 'The provider has failed.' } },
    });
    expect(texts).toEqual(['Hel']);
    expect(types).not.toContain('content_block_stop');
    expect(types).not.toContain('message_stop');
    expect(await failureOf(whole())).toMatchObject({ status: 502, type: 'api_error' });

    const [start, delta] = callParts('call_1', 'weather', '{"city":"Rome"}');
    model.answers(start as StreamPart, delta as StreamPart, COMPLETE);
    expect(await failureOf(whole({ tools: [WEATHER] }))).toMatchObject({ status: 502 });
    expect(await failureOf(streamed({ tools: [WEATHER] }).finalMessage())).toMatchObject({ type: 'api_error' });
  });

  it('stops the provider when it aborts', async () => {
    const open = model.answersWithoutEnd();
    const stream = streamed();
    const failure = failureOf(stream.finalMessage());
    await new Promise((resolve) => stream.once('text', resolve));
    stream.abort();
    expect(await failure).toBeInstanceOf(Anthropic.APIUserAbortError);
    await open.aborted();
  });

  it.each([
    ['max_tokens', { max_tokens: undefined as never }],
    ['messages.0.content.0.type: document', { messages: [{ role: 'user', content: [{ type: 'document' }] }] as never }],
    ['bash_20250124', { tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['mcp_servers', { mcp_servers: [{ type: 'url', url: 'https://example.com', name: 'm' }] } as never],
    [
      'messages.0.content.0.source',
      {
        messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url: 'http://a' } }] }],
      },
    ],
    [
      'messages.1.content.0.tool_use_id',
      {
        system: 'Be brief.',
        messages: [
          ...HELLO,
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'unknown', content: 'x' }] },
        ],
      },
    ],
    ['tool_choice.name', { tools: [WEATHER], tool_choice: { type: 'tool', name: 'other' } }],
    ['stop_sequences', { stop_sequences: [''] }],
  ] satisfies [string, Body][])('gets an error that %s is invalid', async (name, body) => {
    const failure = await failureOf(whole(body));
    expect(failure).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect(failure.message).toContain(name);
  });

  it('gets a warning with the parameters that have no effect, and sends headers of any version', async () => {
    model.answers(say('Hi'), COMPLETE);
    const { response } = await client.messages
      .create(
        {
          ...defaults,
          top_k: 5,
          service_tier: 'auto',
          next_month: { deep: true },
        } as Anthropic.MessageCreateParamsNonStreaming,
        { headers: { 'anthropic-version': '2030-01-01', 'anthropic-beta': 'next-month-2030-01-01' } },
      )
      .withResponse();
    expect(response.headers.get('x-ignored-parameters')?.split(', ').sort()).toEqual([
      'next_month',
      'service_tier',
      'top_k',
    ]);
  });

  it('counts tokens', async () => {
    const counted = await client.messages.countTokens({ model: 'fast', messages: HELLO });
    expect(counted.input_tokens).toBeGreaterThan(0);
    const more = await client.messages.countTokens({
      ...{ model: 'fast', messages: HELLO, tools: [WEATHER] },
      system: 'Be brief. '.repeat(50),
    });
    expect(more.input_tokens).toBeGreaterThan(counted.input_tokens + 50);
    expect(await failureOf(client.messages.countTokens({ model: 'none', messages: HELLO }))).toMatchObject({
      status: 404,
    });
    const empty = failureOf(client.messages.countTokens({ model: 'fast', messages: [{ role: 'user', content: '' }] }));
    expect(await empty).toMatchObject({ status: 400 });
  });

  it('lists the models, and finds one', async () => {
    const { data } = await client.models.list();
    expect(data).toMatchObject([
      { type: 'model', id: 'acme/fast', display_name: 'Fast' },
      { type: 'model', id: 'fast', display_name: 'Fast' },
    ]);
    expect(await client.models.retrieve('acme/fast')).toMatchObject({ id: 'acme/fast' });
  });

  // The last test, because the route cools down afterwards.
  it('gets an error before the message with its status and type', async () => {
    model.answers(new ServiceError('upstream_unavailable', 'The provider is overloaded.', { retryAfterSeconds: 3 }));
    for (const send of [() => whole(), () => streamed().finalMessage()]) {
      const failure = await failureOf(send());
      expect(failure).toMatchObject({ status: 503, type: 'overloaded_error' });
      // The second request asks while the route still waits.
      expect(Math.ceil(Number(failure.headers?.get('retry-after-ms')) / 3_000)).toBe(1);
      expect(failure.requestID).toBe((failure.error as { request_id: string }).request_id);
    }
    expect(await failureOf(whole({ model: 'none' }))).toMatchObject({ status: 404, type: 'not_found_error' });
    const stranger = new Anthropic({ apiKey: 'wrong', baseURL: client.baseURL, maxRetries: 0 });
    expect(await failureOf(stranger.messages.create(defaults))).toMatchObject({
      status: 401,
      type: 'authentication_error',
    });
  });
});
