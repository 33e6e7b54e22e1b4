import { createAnthropic } from '@ai-sdk/anthropic';
import { generateText, jsonSchema, Output, stepCountIs, streamText, tool } from 'ai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/platform/common/service-error.js';
import { callParts, COMPLETE, say, ScriptedModel, TWO_CALLS, USAGE } from '../e2e/compatible/scripted-model.js';

const prompt = 'Hello!';

describe('the AI SDK with anthropic', () => {
  let scripted: ScriptedModel;
  let model: ReturnType<ReturnType<typeof createAnthropic>>;

  beforeEach(async () => {
    scripted = await ScriptedModel.start();
    model = createAnthropic({ apiKey: scripted.key, baseURL: scripted.baseUrl })('acme/fast');
  });
  afterEach(() => scripted.stop());

  it('gets a whole answer and a stream, with thinking and usage', async () => {
    const parts = [
      { type: 'reasoning' as const, text: 'Hm.' },
      { type: 'reasoning' as const, text: '', signature: 'proof' },
      ...[say('Hello'), USAGE, { type: 'finish' as const, reason: 'stop' as const, raw: 'stop' }, COMPLETE],
    ];
    const request = {
      ...{ model, prompt, maxOutputTokens: 1_000 },
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
    };
    scripted.answers(...parts);
    const { text, reasoning, finishReason, usage } = await generateText(request);
    expect({ text, reasoning, finishReason, usage }).toMatchObject({
      text: 'Hello',
      reasoning: [{ text: 'Hm.', providerMetadata: { anthropic: { signature: 'scripted:proof' } } }],
      finishReason: 'stop',
      usage: { inputTokens: 12, inputTokenDetails: { cacheReadTokens: 4 }, outputTokens: 7 },
    });
    const answer = streamText(request);
    expect(await answer.text).toBe('Hello');
    expect(await answer.reasoningText).toBe('Hm.');
    expect(await answer.finishReason).toBe('stop');
    expect(await answer.usage).toMatchObject({ inputTokens: 12, outputTokens: 7 });
    expect(scripted.lastCall.reasoning).toMatchObject({ budget_tokens: 2_000 });
  });

  it('runs two tools at once, and sends the results and the thinking back', async () => {
    scripted.answersInTurn(
      [{ type: 'reasoning', text: 'I look.', signature: 'proof' }, ...TWO_CALLS, COMPLETE],
      [say('Both are sunny.'), COMPLETE],
    );
    const cities: string[] = [];
    const weather = tool({
      inputSchema: jsonSchema<{ city: string }>({ type: 'object', properties: { city: { type: 'string' } } }),
      execute: ({ city }) => {
        cities.push(city);
        return { weather: 'sunny' };
      },
    });
    const answer = streamText({
      ...{ model, prompt, tools: { weather }, stopWhen: stepCountIs(3), maxOutputTokens: 1_000 },
      providerOptions: { anthropic: { thinking: { type: 'enabled', budgetTokens: 2_000 } } },
    });
    expect(await answer.text).toBe('Both are sunny.');
    expect(cities.sort()).toEqual(['Oslo', 'Rome']);
    expect(scripted.lastCall.messages.slice(1)).toMatchObject([
      {
        role: 'assistant',
        content: [{ type: 'reasoning', text: 'I look.', signature: 'proof' }, { id: 'call_1' }, { id: 'call_2' }],
      },
      { role: 'tool', content: [{ toolCallId: 'call_1' }, { toolCallId: 'call_2' }] },
    ]);
  });

  it('gets an object by a schema', async () => {
    const schema = jsonSchema<{ color: string }>({ type: 'object', properties: { color: { type: 'string' } } });
    // The SDK offers a tool to models whose names it does not know.
    scripted.answers(...callParts('call_1', 'json', '{"color":"red"}'), COMPLETE);
    expect((await generateText({ model, prompt, output: Output.object({ schema }) })).output).toEqual({ color: 'red' });
  });

  it('gets an error when a stream breaks off, and when it cannot begin', async () => {
    scripted.answers(say('Hel'), new ServiceError('upstream_error', 'The provider has failed.'));
    const errors: unknown[] = [];
    const answer = streamText({ model, prompt, onError: ({ error }) => void errors.push(error) });
    const types: string[] = [];
    for await (const { type } of answer.fullStream) types.push(type);
    expect(types).toContain('error');
    expect(JSON.stringify(errors)).toContain('The provider has failed.');
    const failure: unknown = await generateText({ model, prompt, maxRetries: 0 }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ statusCode: 502, isRetryable: true });
  });
});
