import OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import type { Response as OpenAiResponse, ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import type { StreamPart } from '../../../src/upstreams/contract/stream-part.js';
import { CheckedFetch } from '../../support/open-responses.js';
import { COMPLETE, rejectionOf, PNG_URL, say, ScriptedModel, TWO_CALLS, USAGE } from './scripted-model.js';

const WEATHER = {
  type: 'function' as const,
  name: 'weather',
  description: 'Tells the weather.',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
  strict: true,
};
const FINISH: StreamPart = { type: 'finish', reason: 'stop', raw: 'stop' };
const CUT: StreamPart = { type: 'finish', reason: 'length', raw: 'length' };

describe('the Responses API of the OpenAI SDK', () => {
  const checked = new CheckedFetch();
  let model: ScriptedModel;
  let openai: OpenAI;

  beforeAll(async () => {
    model = await ScriptedModel.start({ requests_per_minute: 1_000 });
    openai = new OpenAI({ apiKey: model.key, baseURL: model.baseUrl, maxRetries: 0, fetch: checked.fetch });
  });
  afterEach(() => checked.allValid());
  afterAll(() => model.stop());

  const whole = (body: Partial<OpenAI.Responses.ResponseCreateParamsNonStreaming> = {}) =>
    openai.responses.create({ model: 'gpt-5', input: 'Hello!', ...body });
  const streamed = (body: Partial<OpenAI.Responses.ResponseCreateParamsStreaming> = {}) =>
    openai.responses.create({ model: 'gpt-5', input: 'Hello!', ...body, stream: true });
  const failureOf = rejectionOf<InstanceType<typeof OpenAI.APIError>>;

  it('gets a whole response with the name of the requested model, and the usage', async () => {
    model.answers(say('Hello'), say(' there'), USAGE, FINISH, COMPLETE);
    const response = await whole({ instructions: 'Be kind.', temperature: 0.5, max_output_tokens: 100 });
    expect(response).toMatchObject({
      ...{
        model: 'gpt-5',
        status: 'completed',
        instructions: 'Be kind.',
        temperature: 0.5,
        store: false,
        previous_response_id: null,
      },
      output_text: 'Hello there',
      usage: {
        ...{ input_tokens: 12, output_tokens: 7, total_tokens: 19 },
        input_tokens_details: { cached_tokens: 4 },
        output_tokens_details: { reasoning_tokens: 2 },
      },
    });
    expect(model.lastCall).toMatchObject({
      messages: [
        { role: 'system', content: 'Be kind.' },
        { role: 'user', content: 'Hello!' },
      ],
      maxTokens: 100,
    });
  });

  it('gets a stream of numbered events, and the same response in the last event', async () => {
    model.answers(say('Hel'), say('lo'), USAGE, FINISH, COMPLETE);
    const events = [];
    for await (const event of await streamed()) events.push(event);
    expect(events.map(({ type }) => type)).toEqual([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
      'response.content_part.added',
      'response.output_text.delta',
      ...(events.filter(({ type }) => type === 'response.output_text.delta').length > 1
        ? ['response.output_text.delta']
        : []),
      'response.output_text.done',
      'response.content_part.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(events.at(-1)).toMatchObject({
      response: { status: 'completed', output: [{ content: [{ text: 'Hello' }] }], usage: { total_tokens: 19 } },
    });
  });

  it('gets a response by its helper for streams', async () => {
    model.answers(say('Hel'), say('lo'), COMPLETE);
    const runner = openai.responses.stream({ model: 'fast', input: [{ role: 'user', content: 'Hello!' }] });
    expect((await runner.finalResponse()).output_text).toBe('Hello');
  });

  it('calls two tools at once, streamed and whole, and sends their results back', async () => {
    const body = { tools: [WEATHER], tool_choice: 'required' as const, parallel_tool_calls: true };
    const expected = [
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Rome"}', status: 'completed' },
      { type: 'function_call', call_id: 'call_2', name: 'weather', arguments: '{"city":"Oslo"}', status: 'completed' },
    ];
    model.answers(...TWO_CALLS, COMPLETE);
    const last = await openai.responses.stream({ model: 'fast', input: 'Hello!', ...body }).finalResponse();
    expect(last.output).toMatchObject(expected);
    expect(model.lastCall).toMatchObject({
      tools: [{ name: 'weather', parameters: WEATHER.parameters, strict: true }],
      toolChoice: 'required',
      parallelToolCalls: true,
    });

    model.answers(...TWO_CALLS, COMPLETE);
    const response = await whole(body);
    expect(response).toMatchObject({ status: 'completed', output: expected, tool_choice: 'required' });

    model.answers(say('Both are sunny.'), COMPLETE);
    await whole({
      ...body,
      input: [
        { role: 'user', content: 'Hello!' },
        ...(response.output as ResponseInputItem[]),
        { type: 'function_call_output', call_id: 'call_1', output: 'sunny' },
        {
          type: 'function_call_output',
          call_id: 'call_2',
          output: [
            { type: 'input_text', text: 'this:' },
            { type: 'input_image', image_url: PNG_URL, detail: 'auto' },
          ],
        },
      ],
    });
    expect(model.lastCall.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ type: 'tool_call', id: 'call_1', json: '{"city":"Rome"}' }, { id: 'call_2' }] },
      {
        role: 'tool',
        content: [
          { toolCallId: 'call_1', content: 'sunny' },
          {
            toolCallId: 'call_2',
            content: [
              { type: 'text', text: 'this:' },
              { type: 'image', url: PNG_URL },
            ],
          },
        ],
      },
    ]);
  });

  it('sends images and an effort', async () => {
    model.answers(say('Red.'), COMPLETE);
    await whole({
      input: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Which color?' },
            { type: 'input_image', image_url: PNG_URL, detail: 'low' },
          ],
        },
      ],
      reasoning: { effort: 'low' },
    });
    expect(model.lastCall).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text' }, { type: 'image', url: PNG_URL, detail: 'low' }] },
      ],
      reasoning: { effort: 'low' },
    });
  });

  it('gets a text with the schema of its helper', async () => {
    model.answers(say('{"color":"red"}'), COMPLETE);
    const parsed = await openai.responses.parse({
      model: 'fast',
      input: 'Which color?',
      text: { format: zodTextFormat(z.object({ color: z.string() }), 'color') },
    });
    expect(parsed.output_parsed).toEqual({ color: 'red' });
    expect(model.lastCall.responseFormat).toMatchObject({
      ...{ type: 'json_schema', name: 'color', strict: true },
      schema: { type: 'object', properties: { color: { type: 'string' } } },
    });
  });

  it('keeps reasoning and its signatures over two turns', async () => {
    const answer: StreamPart[] = [
      { type: 'reasoning', text: 'Let me ' },
      { type: 'reasoning', text: 'see.', signature: 'sig-1' },
      { type: 'reasoning', text: '', encrypted: 'enc-2' },
      { type: 'tool_call_start', id: 'call_1', name: 'weather', index: 0, signature: 'sig-3' },
      { type: 'tool_call_end', id: 'call_1' },
      COMPLETE,
    ];
    const content = [
      { type: 'reasoning', text: 'Let me see.', signature: 'sig-1' },
      { type: 'reasoning', text: '', encrypted: 'enc-2' },
      { type: 'tool_call', id: 'call_1', name: 'weather', json: '{}', signature: 'sig-3' },
    ];
    const results: ResponseInputItem[] = [{ type: 'function_call_output', call_id: 'call_1', output: 'sunny' }];
    const nextTurn = async ({ output }: OpenAiResponse): Promise<unknown> => {
      model.answers(say('Sunny.'), COMPLETE);
      await whole({ input: [{ role: 'user', content: 'Hi' }, ...(output as ResponseInputItem[]), ...results] });
      return model.lastCall.messages[1];
    };

    model.answers(...answer);
    const response = await whole({ tools: [WEATHER], include: ['reasoning.encrypted_content'] });
    expect(response.output[0]).toMatchObject({
      ...{ type: 'reasoning', summary: [], content: [{ type: 'reasoning_text', text: 'Let me see.' }] },
    });
    expect(await nextTurn(response)).toEqual({ role: 'assistant', content });

    model.answers(...answer);
    const body = { model: 'fast', input: 'Hello!', tools: [WEATHER], reasoning: { summary: 'auto' as const } };
    const streamedResponse = await openai.responses.stream(body).finalResponse();
    expect(streamedResponse.output[0]).toMatchObject({ summary: [{ type: 'summary_text', text: 'Let me see.' }] });
    expect(await nextTurn(streamedResponse)).toEqual({ role: 'assistant', content });
  });

  it('gets the reason that an answer has reached the maximum number of tokens', async () => {
    model.answers(say('Hel'), CUT, COMPLETE);
    const incomplete = {
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete', content: [{ text: 'Hel' }] }],
    };
    expect(await whole()).toMatchObject(incomplete);
    model.answers(say('Hel'), CUT, COMPLETE);
    const events = [];
    for await (const event of await streamed()) events.push(event);
    expect(events.at(-1)).toMatchObject({ type: 'response.incomplete', response: incomplete });
  });

  it('never gets a clean end of an answer that has broken off, streamed or whole', async () => {
    model.answers(say('Hel'), new ServiceError('upstream_error', 'The provider has failed.'));
    const events: OpenAI.Responses.ResponseStreamEvent[] = [];
    const read = async (): Promise<void> => {
      for await (const event of await streamed()) events.push(event);
    };
    expect(await failureOf(read())).toMatchObject({
      error: { type: 'server_error', code: 'upstream_error', message: 'The provider has failed.', param: null },
    });
    expect(events.at(-1)).toMatchObject({ type: 'response.output_text.delta', delta: 'Hel' });
    expect(events.some(({ type }) => /completed|item\.done|text\.done/.test(type))).toBe(false);
    expect(await failureOf(whole())).toMatchObject({ status: 502 });
  });

  it.each([undefined, CUT])('never gets a call that was cut off (%#)', async (finish) => {
    const parts = [...TWO_CALLS.slice(0, 5), ...(finish === undefined ? [] : [finish]), COMPLETE];
    model.answers(...parts);
    const stream = openai.responses.stream({ model: 'fast', input: 'Hi', tools: [WEATHER] });
    expect(await failureOf(stream.finalResponse())).toMatchObject({ code: 'upstream_error' });
    model.answers(...parts);
    expect(await failureOf(whole({ tools: [WEATHER] }))).toMatchObject({ status: 502 });
  });

  it('stops the provider when it aborts', async () => {
    const open = model.answersWithoutEnd();
    const unchecked = new OpenAI({ apiKey: model.key, baseURL: model.baseUrl, maxRetries: 0 });
    const stream = await unchecked.responses.create({ model: 'fast', input: 'Hi', stream: true });
    for await (const { type } of stream) if (type === 'response.output_text.delta') break;
    stream.controller.abort();
    await open.aborted();
  });

  it.each([
    ['previous_response_id', { previous_response_id: 'resp_1' }],
    ['conversation', { conversation: 'conv_1' }],
    ['input.0', { input: [{ type: 'item_reference', id: 'msg_1' }] }],
    ['background', { background: true }],
    ['prompt', { prompt: { id: 'pmpt_1' } }],
    ['max_tool_calls', { max_tool_calls: 1 }],
    ['top_logprobs', { top_logprobs: 2 }],
    ['include.0', { include: ['message.output_text.logprobs'] }],
    ['tools.0.type', { tools: [{ type: 'local_shell' }] }],
    ['tool_choice.type', { tool_choice: { type: 'file_search' } }],
    ['tool_choice.name', { tools: [WEATHER], tool_choice: { type: 'function', name: 'other' } }],
    ['tool_choice.tools.0.name', { tool_choice: { type: 'allowed_tools', tools: [{ type: 'function', name: 'x' }] } }],
    ['input.0.content.0.type', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'f' }] }] }],
    [
      'input.1.content.0.image_url',
      {
        input: [
          { role: 'user', content: 'a' },
          { role: 'user', content: [{ type: 'input_image', image_url: 'x' }] },
        ],
      },
    ],
    ['input.0.call_id', { input: [{ type: 'function_call_output', call_id: 'c', output: '' }] }],
    ['input.0.type', { input: [{ type: 'computer_call', id: 'x' }] }],
    ['input', { input: [] }],
    ['max_output_tokens', { max_output_tokens: 0 }],
    ['temperature', { temperature: 3 }],
    ['text.format.name', { text: { format: { type: 'json_schema', name: 'a b', schema: {} } } }],
  ])('gets an error that %s is invalid or cannot be honoured', async (param, body) => {
    const failure = await failureOf(whole(body as never));
    expect(failure).toMatchObject({ status: 400, param, type: 'invalid_request_error' });
    if (/previous|conversation|input\.0$/.test(param)) expect(failure.message).toMatch(/store: false/);
  });

  it('gets a warning with the parameters that have no effect', async () => {
    model.answers(say('Hi'), COMPLETE);
    const { response } = await openai.responses
      .create({
        ...{ model: 'fast', input: 'Hi', user: 'u', store: true, metadata: { a: 'b' }, service_tier: 'auto' },
        ...{ prompt_cache_key: 'k', safety_identifier: 's', truncation: 'disabled', background: false, next: 1 },
        ...{ text: { verbosity: 'low' }, include: ['reasoning.encrypted_content'], top_logprobs: 0 },
      } as never)
      .withResponse();
    const named = response.headers.get('x-ignored-parameters')?.split(', ').sort();
    expect(named).toEqual([
      ...['metadata', 'next', 'prompt_cache_key', 'safety_identifier', 'service_tier', 'store'],
      ...['text.verbosity', 'user'],
    ]);
  });

  it('offers only the allowed tools to the model', async () => {
    model.answers(say('Hi'), COMPLETE);
    const other = { ...WEATHER, name: 'other' };
    const tool_choice = {
      ...{ type: 'allowed_tools' as const, mode: 'required' as const },
      tools: [{ type: 'function', name: 'other' }],
    };
    const response = await whole({ tools: [WEATHER, other], tool_choice });
    expect(model.lastCall).toMatchObject({ tools: [{ name: 'other' }], toolChoice: 'required' });
    expect(response).toMatchObject({ tools: [{ name: 'weather' }, { name: 'other' }], tool_choice });
  });

  // The last test, because the route cools down afterwards.
  it('gets an error before the answer with its status and code', async () => {
    model.answers(new ServiceError('upstream_unavailable', 'The provider is overloaded.', { retryAfterSeconds: 3 }));
    const failure = await failureOf(streamed());
    expect(failure).toMatchObject({ status: 503, code: 'upstream_unavailable', type: 'server_error' });
    expect(failure.headers?.get('retry-after-ms')).toBe('3000');
    expect(await failureOf(whole({ model: 'acme/none' }))).toMatchObject({ status: 404, code: 'model_not_found' });
    const stranger = new OpenAI({ apiKey: 'wrong', baseURL: model.baseUrl, maxRetries: 0 });
    expect(await failureOf(stranger.responses.create({ model: 'fast', input: 'Hi' }))).toMatchObject({
      ...{ status: 401, code: 'invalid_api_key' },
    });
  });
});
