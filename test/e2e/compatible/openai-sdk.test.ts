import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import { Latch } from '../../support/latch.js';
import { stream } from '../../support/sse-client.js';
import { readWire } from '../../support/wire.js';
import { callParts, COMPLETE, rejectionOf, PNG_URL, say, ScriptedModel, USAGE } from './scripted-model.js';

const HELLO = [{ role: 'user' as const, content: 'Hello!' }];
const WEATHER = {
  type: 'function' as const,
  function: {
    name: 'weather',
    description: 'Tells the weather.',
    parameters: { type: 'object', properties: { city: { type: 'string' }, constructor: { type: 'string' } } },
    strict: true,
  },
};

let model: ScriptedModel;
let openai: OpenAI;

async function start(): Promise<void> {
  model = await ScriptedModel.start({ requests_per_minute: 1_000 });
  openai = new OpenAI({ apiKey: model.key, baseURL: model.baseUrl, maxRetries: 0 });
}

const whole = (body: Partial<OpenAI.Chat.ChatCompletionCreateParamsNonStreaming> = {}) =>
  openai.chat.completions.create({ model: 'gpt-5', messages: HELLO, ...body });
const streamed = (body: Partial<OpenAI.Chat.ChatCompletionCreateParamsStreaming> = {}) =>
  openai.chat.completions.create({ model: 'gpt-5', messages: HELLO, ...body, stream: true });
const failureOf = rejectionOf<InstanceType<typeof OpenAI.APIError>>;

describe('the OpenAI SDK', () => {
  beforeAll(start);
  afterAll(() => model.stop());

  it('gets a whole answer, with the name of the requested model, and the usage', async () => {
    model.answers(say('Hello'), say(' there'), USAGE, { type: 'finish', reason: 'stop', raw: 'stop' }, COMPLETE);
    const answer = await whole();
    expect(answer).toMatchObject({
      object: 'chat.completion',
      model: 'gpt-5',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there' }, finish_reason: 'stop' }],
      usage: {
        ...{ prompt_tokens: 12, completion_tokens: 7, total_tokens: 19 },
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 2 },
      },
    });
    expect(answer.id).toMatch(/^chatcmpl-[0-9a-f]{32}$/);
    expect(answer._request_id).toMatch(/^[\w-]+$/);
  });

  it('gets a stream: the role first, one finish reason, and the usage in the last chunk only', async () => {
    model.answers({ type: 'reasoning', text: 'Hm.' }, say('Hel'), say('lo'), USAGE, COMPLETE);
    const chunks = [];
    for await (const chunk of await streamed({ stream_options: { include_usage: true } })) chunks.push(chunk);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    expect(chunks.filter(({ choices }) => choices[0]?.finish_reason)).toHaveLength(1);
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('Hello');
    expect(
      chunks
        .map(
          ({ choices }) => (choices[0]?.delta as { reasoning_content?: string } | undefined)?.reasoning_content ?? '',
        )
        .join(''),
    ).toBe('Hm.');
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 7 } });
  });

  it('gets an answer by its helper for streams', async () => {
    model.answers(say('Hel'), say('lo'), COMPLETE);
    const runner = openai.chat.completions.stream({ model: 'fast', messages: HELLO });
    expect(await runner.finalContent()).toBe('Hello');
  });

  it('sends images, a JSON schema and an effort', async () => {
    model.answers(say('{"color":"red"}'), COMPLETE);
    const schema = { type: 'object', properties: { color: { type: 'string' } } };
    await whole({
      messages: [
        { role: 'developer', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Which color?' },
            { type: 'image_url', image_url: { url: PNG_URL, detail: 'low' } },
          ],
        },
      ],
      response_format: { type: 'json_schema', json_schema: { name: 'color', schema, strict: true } },
      reasoning_effort: 'low',
      max_completion_tokens: 100,
      stop: 'END',
    });
    expect(model.lastCall).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: [{ type: 'text' }, { type: 'image', url: PNG_URL, detail: 'low' }] },
      ],
      responseFormat: { type: 'json_schema', name: 'color', schema, strict: true },
      reasoning: { effort: 'low' },
      maxTokens: 100,
    });
  });

  it('never gets a clean end of an answer that has broken off, streamed or whole', async () => {
    const received = new Latch();
    const failed = new ServiceError('upstream_error', 'The provider has failed.');
    model.answers(say('Hel'), () => received.opened, failed);
    const contents: string[] = [];
    const failure = await failureOf(
      (async () => {
        for await (const { choices } of await streamed()) {
          contents.push(choices[0]?.delta.content ?? '');
          if (contents.join('') === 'Hel') received.open();
          expect(choices[0]?.finish_reason).toBeNull();
        }
      })(),
    );
    expect(contents.join('')).toBe('Hel');
    expect(failure).toMatchObject({ code: 'upstream_error' });
    expect(await failureOf(whole())).toMatchObject({ status: 502 });

    const [start, delta] = callParts('call_1', 'weather', '{"city":"Rome"}');
    model.answers(start as never, delta as never, COMPLETE);
    expect(await failureOf(whole({ tools: [WEATHER] }))).toMatchObject({ status: 502 });
  });

  it('stops the provider when it aborts', async () => {
    const open = model.answersWithoutEnd();
    const stream = await streamed();
    await stream[Symbol.asyncIterator]().next();
    stream.controller.abort();
    await open.aborted();
  });

  it.each([
    ['n', { n: 2 }],
    ['logprobs', { logprobs: true }],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } as never, modalities: ['text' as const] }],
    ['tools.0.type', { tools: [{ function: { name: 'x' } }] as never }],
    ['messages.0.content.0.type', { messages: [{ role: 'user', content: [{ type: 'file', file: {} }] }] as never }],
    ['web_search_options', { web_search_options: {} }],
    ['functions', { functions: [{ name: 'weather' }] }],
    ['function_call', { function_call: { name: 'weather' } }],
    ['logit_bias', { logit_bias: 3 as never }],
  ])('gets an error that %s cannot be honoured', async (param, body) => {
    expect(await failureOf(whole(body))).toMatchObject({ status: 400, param, type: 'invalid_request_error' });
  });

  it('gets a warning with the parameters that have no effect', async () => {
    model.answers(say('Hi'), COMPLETE);
    const { response } = await openai.chat.completions
      .create({
        model: 'fast',
        messages: HELLO,
        user: 'u',
        store: true,
        metadata: { a: 'b' },
        n: 1,
        functions: [],
        next: 1,
      } as never)
      .withResponse();
    expect(response.headers.get('x-ignored-parameters')?.split(/, ?/).sort()).toEqual([
      'metadata',
      'next',
      'store',
      'user',
    ]);
  });

  it('lists the models, and finds one by its id or alias', async () => {
    const { data } = await openai.models.list();
    expect(data.map(({ id }) => id)).toEqual(['acme/fast', 'fast']);
    expect(await openai.models.retrieve('acme/fast')).toMatchObject({ id: 'acme/fast', object: 'model' });
    expect(await openai.models.retrieve('gpt-9')).toMatchObject({ id: 'gpt-9' });
    expect(await failureOf(openai.models.retrieve('none'))).toMatchObject({ status: 404 });
  });

  it('uses an alias that works for POST /chat/stream, too, where an unknown name without a slash is invalid', async () => {
    model.answers(say('Hi'), COMPLETE);
    const ask = (name: string) => stream(model.service.origin, { key: model.key, body: { model: name } });
    expect(readWire((await ask('fast')).raw)).toMatchObject({ text: 'Hi', terminal: 'done' });
    expect(readWire((await ask('gpt-7')).raw)).toMatchObject({ text: 'Hi', terminal: 'done' });
    expect((await ask('slow')).status).toBe(400);
    expect((await ask('acme/slow')).status).toBe(404);
  });

  // The last test, because the route cools down afterwards.
  it('gets an error before the answer with its status and code', async () => {
    model.answers(new ServiceError('upstream_unavailable', 'The provider is overloaded.', { retryAfterSeconds: 3 }));
    const failure = await failureOf(whole());
    expect(failure).toMatchObject({ status: 503, code: 'upstream_unavailable', type: 'server_error' });
    expect(failure.headers?.get('retry-after-ms')).toBe('3000');
    expect(await failureOf(whole({ model: 'acme/none' }))).toMatchObject({ status: 404, code: 'model_not_found' });
    const stranger = new OpenAI({ apiKey: 'wrong', baseURL: model.baseUrl, maxRetries: 0 });
    expect(await failureOf(stranger.chat.completions.create({ model: 'fast', messages: HELLO }))).toMatchObject({
      status: 401,
      code: 'invalid_api_key',
    });
  });
});

describe('the OpenAI SDK at a limit', () => {
  it('retries as the service says, and not where that makes no sense', async () => {
    const limited = await ScriptedModel.start({ tokens_per_day: 1 });
    const requests: string[] = [];
    const retrying = new OpenAI({
      apiKey: limited.key,
      baseURL: limited.baseUrl,
      maxRetries: 2,
      fetch: async (url, init) => {
        requests.push(url instanceof Request ? url.url : url.toString());
        return fetch(url, init);
      },
    });
    const refused = await retrying.chat.completions
      .create({ model: 'fast', messages: HELLO })
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({ status: 429, code: 'insufficient_quota' });
    // Midnight may be less than a minute away.
    const { headers } = refused as InstanceType<typeof OpenAI.APIError>;
    const isLong = Number(headers?.get('retry-after')) > 60;
    expect(headers?.get('x-should-retry')).toBe(isLong ? 'false' : null);
    if (isLong) expect(requests).toHaveLength(1);

    await limited.stop();
  });
});
