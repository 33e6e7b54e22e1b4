import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../../src/platform/common/service-error.js';
import { Latch } from '../../support/latch.js';
import { COMPLETE, say, ScriptedModel, TWO_CALLS, USAGE } from './scripted-model.js';

const prompt = 'Hello!';

describe('the AI SDK with openai-compatible', () => {
  let scripted: ScriptedModel;
  let model: ReturnType<ReturnType<typeof createOpenAICompatible>>;

  beforeEach(async () => {
    scripted = await ScriptedModel.start();
    const { key: apiKey, baseUrl: baseURL } = scripted;
    model = createOpenAICompatible({
      name: 'chat',
      apiKey,
      baseURL,
      includeUsage: true,
      supportsStructuredOutputs: true,
    })('acme/fast');
  });
  afterEach(() => scripted.stop());

  it('gets a whole answer and a stream, with reasoning and usage', async () => {
    const parts = [{ type: 'reasoning' as const, text: 'Hm.' }, say('Hello'), USAGE, COMPLETE];
    scripted.answers(...parts);
    expect(await generateText({ model, prompt })).toMatchObject({
      text: 'Hello',
      reasoningText: 'Hm.',
      finishReason: 'stop',
      usage: { inputTokens: 12, outputTokens: 7 },
    });
    scripted.answers(...parts);
    const answer = streamText({ model, prompt });
    expect(await answer.text).toBe('Hello');
    expect(await answer.reasoningText).toBe('Hm.');
    expect(await answer.finishReason).toBe('stop');
    expect(await answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
  });

  it('runs two tools at once, and sends the results back', async () => {
    scripted.answersInTurn([...TWO_CALLS, COMPLETE], [say('Both are sunny.'), COMPLETE]);
    const cities: string[] = [];
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: ({ city }) => {
        cities.push(city);
        return { weather: 'sunny' };
      },
    });
    const answer = streamText({ model, prompt, tools: { weather }, stopWhen: stepCountIs(3) });
    expect(await answer.text).toBe('Both are sunny.');
    expect(cities.sort()).toEqual(['Oslo', 'Rome']);
    expect(scripted.lastCall.messages.at(-1)).toMatchObject({
      role: 'tool',
      content: [{ toolCallId: 'call_1' }, { toolCallId: 'call_2' }],
    });
  });

  it('gets an object by a schema', async () => {
    scripted.answers(say('{"color":"red"}'), COMPLETE);
    const schema = jsonSchema<{ color: string }>({ type: 'object', properties: { color: { type: 'string' } } });
    expect((await generateText({ model, prompt, output: Output.object({ schema }) })).output).toEqual({ color: 'red' });
    expect(scripted.lastCall.responseFormat).toMatchObject({ type: 'json_schema' });
  });

  it('gets an error when a stream breaks off', async () => {
    const received = new Latch();
    scripted.answers(say('Hel'), () => received.opened, new ServiceError('upstream_error', 'The provider has failed.'));
    const answer = streamText({ model, prompt, onError: () => undefined });
    const types: string[] = [];
    for await (const { type } of answer.fullStream) {
      types.push(type);
      if (type === 'text-delta') received.open();
    }
    expect(types).toContain('error');
  });

  it('retries what is worth a retry', async () => {
    let attempts = 0;
    scripted.provider.answers('acme', async function* answer() {
      await Promise.resolve();
      attempts += 1;
      if (attempts === 1) throw new ServiceError('upstream_error', 'The provider has failed.');
      yield say('Hello');
      yield COMPLETE;
    });
    expect((await generateText({ model, prompt, maxRetries: 1 })).text).toBe('Hello');
    expect(attempts).toBe(2);
  });
});
