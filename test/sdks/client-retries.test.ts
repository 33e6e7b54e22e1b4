import Anthropic from '@anthropic-ai/sdk';
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type LanguageModel } from 'ai';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { Latch } from '../support/latch.js';
import { stream } from '../support/sse-client.js';
import { waitFor } from '../support/wait-for.js';
import { COMPLETE, say, ScriptedModel } from '../e2e/compatible/scripted-model.js';

type Fetch = typeof globalThis.fetch;
type Ask = (scripted: ScriptedModel, fetch: Fetch) => Promise<string | null>;

const HELLO = [{ role: 'user' as const, content: 'Hello!' }];
const NAME = 'acme/fast';
const textOf = async (model: LanguageModel): Promise<string> =>
  (await generateText({ model, messages: HELLO, maxRetries: 2 })).text;

/** Asks for a whole answer with at most two retries. */
const CLIENTS: Readonly<Record<string, Ask>> = {
  'the OpenAI SDK': async ({ key: apiKey, baseUrl: baseURL }, fetch) => {
    const { choices } = await new OpenAI({ apiKey, baseURL, fetch }).chat.completions.create({
      model: NAME,
      messages: HELLO,
    });
    return choices[0]?.message.content ?? null;
  },
  'the OpenAI SDK with responses': async ({ key: apiKey, baseUrl: baseURL }, fetch) =>
    (await new OpenAI({ apiKey, baseURL, fetch }).responses.create({ model: NAME, input: 'Hello!' })).output_text,
  'the Anthropic SDK': async ({ key: apiKey, service }, fetch) => {
    const client = new Anthropic({ apiKey, baseURL: `${service.origin}/api`, fetch });
    const { content } = await client.messages.create({ model: NAME, max_tokens: 100, messages: HELLO });
    return content[0]?.type === 'text' ? content[0].text : null;
  },
  '@ai-sdk/openai-compatible': ({ key: apiKey, baseUrl: baseURL }, fetch) =>
    textOf(createOpenAICompatible({ name: 'chat', apiKey, baseURL, fetch })(NAME)),
  '@ai-sdk/openai': ({ key: apiKey, baseUrl: baseURL }, fetch) =>
    textOf(createOpenAI({ apiKey, baseURL, fetch })(NAME)),
  '@ai-sdk/open-responses': ({ key: apiKey, baseUrl }, fetch) =>
    textOf(createOpenResponses({ name: 'chat', apiKey, url: `${baseUrl}/responses`, fetch })(NAME)),
  '@ai-sdk/anthropic': ({ key: apiKey, baseUrl: baseURL }, fetch) =>
    textOf(createAnthropic({ apiKey, baseURL, fetch })(NAME)),
  'ChatOpenAI with chat completions': async ({ key: apiKey, baseUrl: baseURL }, fetch) =>
    (
      await new ChatOpenAI({
        ...{ model: NAME, apiKey, maxRetries: 2, useResponsesApi: false },
        configuration: { baseURL, fetch },
      }).invoke('Hello!')
    ).text,
  'ChatOpenAI with responses': async ({ key: apiKey, baseUrl: baseURL }, fetch) =>
    (
      await new ChatOpenAI({
        ...{ model: NAME, apiKey, maxRetries: 2, useResponsesApi: true },
        configuration: { baseURL, fetch },
      }).invoke('Hello!')
    ).text,
  ChatAnthropic: async ({ key: apiKey, service }, fetch) =>
    (
      await new ChatAnthropic({
        ...{ model: NAME, apiKey, maxRetries: 2, anthropicApiUrl: `${service.origin}/api` },
        clientOptions: { fetch },
      }).invoke('Hello!')
    ).text,
};

/** These clients know their own waiting times only. */
const WAITS_BY_ITSELF = /^Chat/;
/** These clients read `x-should-retry`, or the code of a spent quota. */
const READ_WHETHER_TO_RETRY = Object.entries(CLIENTS).filter(([name]) => /SDK|^ChatOpenAI/.test(name));

describe.each(Object.entries(CLIENTS))('a refusal by a limit of the account, for %s', (name, ask) => {
  it('is retried after the time that the service says', async () => {
    const scripted = await ScriptedModel.start({ concurrent_streams: 1 });
    const held = new Latch();
    scripted.answers(say('Hel'), () => held.opened, COMPLETE);
    const running = stream(scripted.service.origin, { key: scripted.key });
    await waitFor(() => scripted.provider.calls.length > 0, 'the stream that holds the slot');
    scripted.answers(say('Hello'), COMPLETE);
    const seen: { status: number; at: number; waitMs: number }[] = [];
    const text = await ask(scripted, async (url, init) => {
      const at = performance.now();
      const response = await fetch(url, init);
      seen.push({ status: response.status, at, waitMs: Number(response.headers.get('retry-after-ms')) });
      held.open();
      await running;
      return response;
    });
    expect(text).toBe('Hello');
    expect(seen.map(({ status }) => status)).toEqual([429, 200]);
    const [first, second] = seen;
    const waitedMs = (second?.at ?? 0) - (first?.at ?? 0);
    if (!WAITS_BY_ITSELF.test(name)) expect(waitedMs).toBeGreaterThan((first?.waitMs ?? 0) - 20);
    await scripted.stop();
  });
});

describe.each(READ_WHETHER_TO_RETRY)('used-up tokens of the day, for %s', (_name, ask) => {
  it('are not retried', async () => {
    const scripted = await ScriptedModel.start({ tokens_per_day: 1 });
    const seen: number[] = [];
    const failure = await ask(scripted, async (url, init) => {
      const { body, status, headers } = await fetch(url, init);
      seen.push(status);
      // Less than a minute before midnight, the service allows a retry.
      return new Response(body, { status, headers: { ...Object.fromEntries(headers), 'x-should-retry': 'false' } });
    }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ status: 429 });
    expect(seen).toEqual([429]);
    await scripted.stop();
  });
});
