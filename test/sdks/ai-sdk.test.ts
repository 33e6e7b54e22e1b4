import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  generateText,
  jsonSchema,
  Output,
  stepCountIs,
  streamText,
  tool,
  type LanguageModel,
  type ModelMessage,
} from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ServiceError } from '../../src/platform/common/service-error.js';
import type { StreamPart } from '../../src/upstreams/contract/stream-part.js';
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
import { CheckedFetch } from '../support/open-responses.js';

const COMPATIBLE = '@ai-sdk/openai-compatible';
const OPENAI = '@ai-sdk/openai';
const OPEN_RESPONSES = '@ai-sdk/open-responses';
const ANTHROPIC = '@ai-sdk/anthropic';

const NAME = 'acme/fast';
const checked = new CheckedFetch();
const PROVIDERS: Readonly<Record<string, (scripted: ScriptedModel) => LanguageModel>> = {
  [COMPATIBLE]: ({ key: apiKey, baseUrl: baseURL }) =>
    createOpenAICompatible({
      ...{ name: 'chat', apiKey, baseURL, includeUsage: true, supportsStructuredOutputs: true },
    })(NAME),
  [OPENAI]: ({ key: apiKey, baseUrl: baseURL }) => createOpenAI({ apiKey, baseURL, fetch: checked.fetch })(NAME),
  [OPEN_RESPONSES]: ({ key: apiKey, baseUrl }) =>
    createOpenResponses({ name: 'chat', apiKey, url: `${baseUrl}/responses`, fetch: checked.fetch })(NAME),
  [ANTHROPIC]: ({ key: apiKey, baseUrl: baseURL }) => createAnthropic({ apiKey, baseURL })(NAME),
};
const providerOptions = {
  openai: { store: false, forceReasoning: true, reasoningSummary: 'auto' },
  chat: { reasoningSummary: 'auto' },
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } },
} as const;
const prompt = 'How is the weather in Rome and Oslo?';
const weather = tool({
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
});
const FAILED = new ServiceError('upstream_error', 'The provider has failed.');

let scripted: ScriptedModel;

beforeAll(async () => {
  scripted = await ScriptedModel.start({ requests_per_minute: 1_000 });
});
afterAll(() => scripted.stop());

describe.each(Object.entries(PROVIDERS))('the AI SDK with %s', (name, modelOf) => {
  let model: LanguageModel;

  beforeEach(() => {
    model = modelOf(scripted);
  });
  afterEach(() => checked.allValid());

  const common = () => ({ model, maxRetries: 0, maxOutputTokens: 2_000, providerOptions });

  it('gets a whole answer and a stream, with reasoning and usage', async () => {
    const reasoning = { type: 'reasoning' as const, text: 'Hm.', ...(name !== COMPATIBLE && { signature: 'proof' }) };
    const finish = { type: 'finish' as const, reason: 'stop' as const, raw: 'stop' };
    scripted.answers(reasoning, say('Hel'), say('lo'), USAGE, finish, COMPLETE);
    const whole = await generateText({ ...common(), system: 'Be kind.', prompt });
    expect(whole).toMatchObject({ text: 'Hello', finishReason: 'stop' });
    // The provider of Open Responses reads the reasoning of streams only.
    if (name !== OPEN_RESPONSES) expect(whole.reasoningText).toBe('Hm.');
    expect(whole.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
    expect(scripted.lastCall.messages).toMatchObject([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: prompt },
    ]);
    if (name === ANTHROPIC) {
      const signature = 'scripted:proof';
      expect(whole.reasoning).toMatchObject([{ text: 'Hm.', providerMetadata: { anthropic: { signature } } }]);
      expect(whole.usage).toMatchObject({ inputTokenDetails: { cacheReadTokens: 4 } });
      expect(scripted.lastCall.reasoning).toMatchObject({ budget_tokens: 1_024 });
    }
    const answer = streamText({ ...common(), prompt });
    expect(await answer.text).toBe('Hello');
    expect(await answer.reasoningText).toBe('Hm.');
    expect(await answer.finishReason).toBe('stop');
    expect(await answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
  });

  it('runs two tools at once, and sends the results and the reasoning back', async () => {
    const reasoning: StreamPart[] = name === ANTHROPIC ? [{ type: 'reasoning', text: 'I look.', signature: 'p' }] : [];
    scripted.answersInTurn([...reasoning, ...TWO_CALLS, COMPLETE], [say('Both are sunny.'), USAGE, COMPLETE]);
    const answer = streamText({ ...common(), prompt, tools: { weather }, stopWhen: stepCountIs(3) });
    expect(await answer.text).toBe('Both are sunny.');
    const results = (await answer.steps)[0]?.toolResults.map(({ output }) => output);
    expect(results).toEqual(['sunny in Rome', 'sunny in Oslo']);
    const sent = (id: string, content: string) => ({
      toolCallId: id,
      content: expect.stringContaining(content) as string,
    });
    expect(scripted.lastCall.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [...reasoning, { type: 'tool_call', id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', content: [sent('call_1', 'sunny in Rome'), sent('call_2', 'sunny in Oslo')] },
    ]);
  });

  it('sends an image, and gets an object by a schema', async () => {
    // The SDK offers a tool to models of Anthropic whose names it does not know.
    const json = '{"color":"red"}';
    if (name === ANTHROPIC) scripted.answers(...callParts('call_1', 'json', json), COMPLETE);
    else scripted.answers(say(json), COMPLETE);
    const schema = jsonSchema<{ color: string }>({ type: 'object', properties: { color: { type: 'string' } } });
    const content = [
      { type: 'text' as const, text: 'Which color?' },
      { type: 'file' as const, data: PNG, mediaType: 'image/png' },
    ];
    const request = { model, maxRetries: 0, maxOutputTokens: 2_000 };
    const messages: ModelMessage[] = [{ role: 'user', content }];
    expect((await generateText({ ...request, messages, output: Output.object({ schema }) })).output).toEqual({
      color: 'red',
    });
    expect(scripted.lastCall.messages).toMatchObject([
      { content: [{ type: 'text' }, { type: 'image', url: PNG_URL }] },
    ]);
    if (name !== ANTHROPIC) expect(scripted.lastCall.responseFormat).toMatchObject({ type: 'json_schema' });
  });

  it('keeps the reasoning over two turns', async () => {
    // A signature has no place in chat completions, and the provider of Open Responses sends no reasoning back.
    const signature = name === COMPATIBLE ? {} : { signature: 'proof' };
    const reasoning = { type: 'reasoning' as const, text: 'A greeting.', ...signature };
    scripted.answers(reasoning, say('Hello'), COMPLETE);
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hello!' }];
    const first = streamText({ ...common(), messages });
    messages.push(...(await first.response).messages, { role: 'user', content: 'How are you?' });
    expect(await first.reasoningText).toBe('A greeting.');
    scripted.answers(say('Fine.'), COMPLETE);
    expect((await generateText({ ...common(), messages })).text).toBe('Fine.');
    expect(scripted.lastCall.messages[1]).toMatchObject({
      role: 'assistant',
      content: name === OPEN_RESPONSES ? 'Hello' : [reasoning, { type: 'text', text: 'Hello' }],
    });
  });

  it('gets an answer that was cut, and an error when a stream breaks off', async () => {
    scripted.answers(say('Hel'), { type: 'finish', reason: 'length', raw: 'length' }, COMPLETE);
    expect((await generateText({ ...common(), prompt })).finishReason).toBe('length');
    scripted.answers(say('Hel'), FAILED);
    const errors: unknown[] = [];
    const { fullStream } = streamText({ ...common(), prompt, onError: ({ error }) => void errors.push(error) });
    const parts = [];
    for await (const part of fullStream) parts.push(part);
    if (name === OPENAI || name === OPEN_RESPONSES) {
      expect(parts.find(({ type }) => type === 'finish')).toMatchObject({ finishReason: 'error' });
    } else {
      expect(parts.map(({ type }) => type)).toContain('error');
    }
    if (name === ANTHROPIC) expect(JSON.stringify(errors)).toContain('The provider has failed.');
  });
});

describe('@ai-sdk/openai in a second turn', () => {
  afterEach(() => checked.allValid());

  const twoTurns = async (openai: Record<string, boolean | string>) => {
    const reasoning: StreamPart = { type: 'reasoning', text: 'Let me see.', signature: 'sig-1' };
    const start: StreamPart = { type: 'tool_call_start', id: 'call_1', name: 'weather', index: 0, signature: 'sig-2' };
    const [, ...rest] = callParts('call_1', 'weather', '{"city":"Rome"}');
    scripted.answersInTurn([reasoning, start, ...rest, COMPLETE], [say('Sunny.'), COMPLETE]);
    const model = createOpenAI({ apiKey: scripted.key, fetch: checked.fetch, baseURL: scripted.baseUrl })('gpt-5');
    const options = { model, maxRetries: 0, prompt: 'Hi', tools: { weather }, stopWhen: stepCountIs(3) };
    return generateText({ ...options, providerOptions: { openai } });
  };

  it('sends the reasoning and the signatures back with store: false', async () => {
    const { text } = await twoTurns({ store: false, reasoningSummary: 'auto' });
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
    await expect(twoTurns({ store: true })).rejects.toThrow(/item_reference.*store: false/);
  });
});
