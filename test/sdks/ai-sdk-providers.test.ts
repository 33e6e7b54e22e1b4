import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, streamText, type APICallError, type LanguageModel, type ModelMessage } from 'ai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/platform/common/service-error.js';
import { COMPLETE, PNG, PNG_URL, say, ScriptedModel } from '../e2e/compatible/scripted-model.js';

const NAME = 'acme/fast';
const PROVIDERS: Readonly<Record<string, (scripted: ScriptedModel) => LanguageModel>> = {
  '@ai-sdk/openai-compatible': ({ key: apiKey, baseUrl: baseURL }) =>
    createOpenAICompatible({ name: 'chat', apiKey, baseURL })(NAME),
  '@ai-sdk/openai': ({ key: apiKey, baseUrl: baseURL }) => createOpenAI({ apiKey, baseURL })(NAME),
  '@ai-sdk/open-responses': ({ key: apiKey, baseUrl }) =>
    createOpenResponses({ name: 'chat', apiKey, url: `${baseUrl}/responses` })(NAME),
  '@ai-sdk/anthropic': ({ key: apiKey, baseUrl: baseURL }) => createAnthropic({ apiKey, baseURL })(NAME),
};
const providerOptions = {
  openai: { store: false, forceReasoning: true, reasoningSummary: 'auto' },
  anthropic: { thinking: { type: 'enabled', budgetTokens: 1_024 } },
};
const maxOutputTokens = 2_000;

describe.each(Object.entries(PROVIDERS))('the AI SDK with %s', (name, modelOf) => {
  let scripted: ScriptedModel;
  let model: LanguageModel;

  beforeEach(async () => {
    scripted = await ScriptedModel.start({ requests_per_minute: 1_000 });
    model = modelOf(scripted);
  });
  afterEach(() => scripted.stop());

  it('sends an image', async () => {
    scripted.answers(say('A dot.'), COMPLETE);
    const messages: ModelMessage[] = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', data: PNG, mediaType: 'image/png' },
        ],
      },
    ];
    expect((await generateText({ model, messages, maxOutputTokens })).text).toBe('A dot.');
    expect(JSON.stringify(scripted.lastCall.messages)).toContain(PNG_URL);
  });

  it('keeps the reasoning over two turns', async () => {
    // The provider of Open Responses sends no reasoning back.
    const keeps = name !== '@ai-sdk/open-responses';
    // A signature has no place in chat completions.
    const signature = name === '@ai-sdk/openai-compatible' ? {} : { signature: 'proof' };
    const reasoning = { type: 'reasoning' as const, text: 'A greeting.', ...signature };
    scripted.answers(reasoning, say('Hello'), COMPLETE);
    const messages: ModelMessage[] = [{ role: 'user', content: 'Hello!' }];
    const first = streamText({ model, messages, maxOutputTokens, providerOptions });
    messages.push(...(await first.response).messages, { role: 'user', content: 'How are you?' });
    expect(await first.reasoningText).toBe('A greeting.');
    scripted.answers(say('Fine.'), COMPLETE);
    expect((await generateText({ model, messages, maxOutputTokens, providerOptions })).text).toBe('Fine.');
    const text = { type: 'text', text: 'Hello' };
    expect(scripted.lastCall.messages[1]).toMatchObject({
      role: 'assistant',
      content: keeps ? [reasoning, text] : 'Hello',
    });
  });

  it('gets the status of an error before a stream', async () => {
    scripted.answers(new ServiceError('upstream_rejected', 'The provider rejected the request.'));
    let failure: unknown;
    const answer = streamText({
      ...{ model, prompt: 'Hello!', maxOutputTokens, maxRetries: 0 },
      onError: ({ error }) => {
        failure = error;
      },
    });
    await answer.consumeStream();
    expect(failure).toMatchObject({ statusCode: 400, isRetryable: false });
    const { message, responseBody } = failure as APICallError;
    // The provider of Open Responses reads the message only of errors with a parameter.
    expect(name === '@ai-sdk/open-responses' ? responseBody : message).toContain('The provider rejected the request.');
  });

  it('stops the model by an abort', async () => {
    const open = scripted.answersWithoutEnd();
    const leaving = new AbortController();
    const answer = streamText({ model, prompt: 'Hello!', maxOutputTokens, abortSignal: leaving.signal });
    const read = answer.consumeStream();
    await open.started();
    leaving.abort();
    await open.aborted();
    await read;
  });
});
