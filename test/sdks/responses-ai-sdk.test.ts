import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool, type LanguageModel } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceError } from '../../src/platform/common/service-error.js';
import type { StreamPart } from '../../src/upstreams/contract/stream-part.js';
import { CheckedFetch } from '../support/open-responses.js';
import {
  callParts,
  COMPLETE,
  PNG,
  PNG_URL,
  say,
  ScriptedModel,
  TWO_CALLS,
  USAGE,
} from '../e2e/compatible/scripted-model.js';

const weather = () =>
  tool({
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  });

const STATELESS = { openai: { store: false } };

describe.each(['@ai-sdk/openai', '@ai-sdk/open-responses'])('the provider %s of the AI SDK', (name) => {
  const checked = new CheckedFetch();
  let scripted: ScriptedModel;
  let model: LanguageModel;

  beforeAll(async () => {
    scripted = await ScriptedModel.start({ requests_per_minute: 1_000 });
    const options = { apiKey: scripted.key, fetch: checked.fetch };
    model =
      name === '@ai-sdk/openai'
        ? createOpenAI({ ...options, baseURL: scripted.baseUrl })('gpt-5')
        : createOpenResponses({ ...options, name: 'service', url: `${scripted.baseUrl}/responses` })('gpt-5');
  });
  afterEach(() => checked.allValid());
  afterAll(() => scripted.stop());

  const common = () => ({ model, maxRetries: 0, providerOptions: STATELESS });

  it('gets a whole answer with its usage', async () => {
    scripted.answers(say('Hel'), say('lo'), USAGE, COMPLETE);
    const { text, usage, finishReason } = await generateText({ ...common(), system: 'Be kind.', prompt: 'Hello!' });
    expect({ text, finishReason }).toEqual({ text: 'Hello', finishReason: 'stop' });
    expect(usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
    expect(scripted.lastCall.messages).toMatchObject([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'Hello!' },
    ]);
  });

  it('calls two tools at once in a stream, and sends their results back', async () => {
    scripted.answersInTurn([...TWO_CALLS, COMPLETE], [say('Both are sunny.'), USAGE, COMPLETE]);
    const result = streamText({
      ...common(),
      prompt: 'How is the weather in Rome and Oslo?',
      tools: { weather: weather() },
      stopWhen: stepCountIs(3),
    });
    expect(await result.text).toBe('Both are sunny.');
    expect((await result.steps)[0]?.toolResults.map(({ output }) => output)).toEqual([
      'sunny in Rome',
      'sunny in Oslo',
    ]);
    expect(scripted.lastCall.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', id: 'call_1' },
          { type: 'tool_call', id: 'call_2' },
        ],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'call_1', content: 'sunny in Rome' },
          { toolCallId: 'call_2', content: 'sunny in Oslo' },
        ],
      },
    ]);
  });

  it('sends an image, and gets an object', async () => {
    scripted.answers(say('{"color":"red"}'), COMPLETE);
    const { output } = await generateText({
      ...common(),
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Which color?' },
            { type: 'image', image: PNG, mediaType: 'image/png' },
          ],
        },
      ],
      output: Output.object({
        schema: jsonSchema<{ color: string }>({ type: 'object', properties: { color: { type: 'string' } } }),
      }),
    });
    expect(output).toEqual({ color: 'red' });
    expect(scripted.lastCall).toMatchObject({
      messages: [{ content: [{ type: 'text' }, { type: 'image', url: PNG_URL }] }],
      responseFormat: { type: 'json_schema', schema: { type: 'object' } },
    });
  });

  it('shows the reasoning of a stream', async () => {
    scripted.answers({ type: 'reasoning', text: 'Let me see.', signature: 'sig' }, say('Hi'), COMPLETE);
    const { reasoningText } = streamText({
      ...common(),
      prompt: 'Hello!',
      providerOptions: { openai: { store: false, reasoningSummary: 'auto' }, service: { reasoningSummary: 'auto' } },
    });
    expect(await reasoningText).toBe('Let me see.');
  });

  it('gets an error in the stream, and an answer that was cut', async () => {
    scripted.answers(say('Hel'), { type: 'finish', reason: 'length', raw: 'length' }, COMPLETE);
    expect((await generateText({ ...common(), prompt: 'Hello!' })).finishReason).toBe('length');
    scripted.answers(say('Hel'), new ServiceError('upstream_error', 'The provider has failed.'));
    const { fullStream } = streamText({ ...common(), prompt: 'Hello!', onError: () => undefined });
    const parts = [];
    for await (const part of fullStream) parts.push(part);
    expect(parts.find(({ type }) => type === 'finish')).toMatchObject({ finishReason: 'error' });
  });
});

describe('@ai-sdk/openai in a second turn', () => {
  let scripted: ScriptedModel;
  const checked = new CheckedFetch();

  beforeAll(async () => {
    scripted = await ScriptedModel.start({ requests_per_minute: 1_000 });
  });
  afterEach(() => checked.allValid());
  afterAll(() => scripted.stop());

  const twoTurns = async (openai: Parameters<typeof streamText>[0]['providerOptions']) => {
    const model = createOpenAI({ apiKey: scripted.key, fetch: checked.fetch, baseURL: scripted.baseUrl })('gpt-5');
    const reasoning: StreamPart = { type: 'reasoning', text: 'Let me see.', signature: 'sig-1' };
    const start: StreamPart = { type: 'tool_call_start', id: 'call_1', name: 'weather', index: 0, signature: 'sig-2' };
    const [, ...rest] = callParts('call_1', 'weather', '{"city":"Rome"}');
    scripted.answersInTurn([reasoning, start, ...rest, COMPLETE], [say('Sunny.'), COMPLETE]);
    const options = { model, maxRetries: 0, prompt: 'Hi', tools: { weather: weather() }, stopWhen: stepCountIs(3) };
    return generateText({ ...options, providerOptions: openai ?? {} });
  };

  it('sends the reasoning and the signatures back with store: false', async () => {
    const { text } = await twoTurns({ openai: { store: false, reasoningSummary: 'auto' } });
    expect(text).toBe('Sunny.');
    expect(scripted.lastCall.messages[1]).toEqual({
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'Let me see.', signature: 'sig-1' },
        { type: 'tool_call', id: 'call_1', name: 'weather', json: '{"city":"Rome"}', signature: 'sig-2' },
      ],
    });
  });

  it('gets an error that demands store: false when it refers to stored items', async () => {
    await expect(twoTurns({ openai: { store: true } })).rejects.toThrow(/item_reference.*store: false/);
  });
});
