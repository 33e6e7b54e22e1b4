import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anthropic, gemini, ollama, openAi, openAiResponses } from '../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../src/testing/provider/scripted-provider.js';
import { MODEL, routesTo } from '../support/catalog.js';
import { startService, type RunningService } from '../support/service.js';

const TOOL = 'get_weather';
const SCHEMA = { type: 'object' as const, properties: { city: { type: 'string' } }, required: ['city'] };
const QUESTION = 'How is the weather in Oslo and Rome?';

interface Clients {
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
}

/** What a client reads of the first answer, and how it sends the results of the calls. */
interface FirstAnswer {
  /** The arguments of each call. */
  readonly calls: readonly unknown[];
  /** Why the answer has ended, in the words of the surface. */
  readonly reason: string | null | undefined;
  /** Sends one result for each call, and returns the text of the second answer. */
  send(results: readonly string[]): Promise<string>;
}

/** How a client of a surface asks. With `isStream`, the helper of the SDK reads a stream. */
interface Surface {
  readonly reason: string;
  ask(clients: Clients, isStream: boolean): Promise<FirstAnswer>;
}

const chatCompletions: Surface = {
  reason: 'tool_calls',
  async ask({ openai }, isStream) {
    const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: 'user', content: QUESTION }];
    const body = {
      ...{ model: MODEL, messages },
      tools: [{ type: 'function' as const, function: { name: TOOL, parameters: SCHEMA } }],
    };
    const complete = () =>
      isStream
        ? openai.chat.completions.stream(body).finalChatCompletion()
        : openai.chat.completions.create({ ...body, stream: false });
    const choice = (await complete()).choices[0];
    if (choice === undefined) throw new Error('The completion has no choice.');
    const calls = (choice.message.tool_calls ?? []).filter((call) => call.type === 'function');
    return {
      calls: calls.map((call) => JSON.parse(call.function.arguments) as unknown),
      reason: choice.finish_reason,
      async send(results) {
        messages.push(choice.message);
        for (const [index, { id }] of calls.entries())
          messages.push({ role: 'tool', tool_call_id: id, content: results[index] ?? '' });
        return (await complete()).choices[0]?.message.content ?? '';
      },
    };
  },
};

const responses: Surface = {
  reason: 'completed',
  async ask({ openai }, isStream) {
    const input: OpenAI.Responses.ResponseInputItem[] = [{ role: 'user', content: QUESTION }];
    const body = {
      ...{ model: MODEL, input, store: false },
      tools: [{ type: 'function' as const, name: TOOL, parameters: SCHEMA, strict: false }],
    };
    const respond = () =>
      isStream ? openai.responses.stream(body).finalResponse() : openai.responses.create({ ...body, stream: false });
    const first = await respond();
    const output: readonly OpenAI.Responses.ResponseOutputItem[] = first.output;
    const calls = output.filter(
      (item): item is OpenAI.Responses.ResponseFunctionToolCall => item.type === 'function_call',
    );
    return {
      calls: calls.map((call) => JSON.parse(call.arguments) as unknown),
      reason: first.status,
      async send(results) {
        input.push(...(first.output as OpenAI.Responses.ResponseInputItem[]));
        for (const [index, { call_id }] of calls.entries())
          input.push({ type: 'function_call_output', call_id, output: results[index] ?? '' });
        return (await respond()).output_text;
      },
    };
  },
};

const messages: Surface = {
  reason: 'tool_use',
  async ask({ anthropic: client }, isStream) {
    const conversation: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }];
    const body = {
      ...{ model: MODEL, max_tokens: 1_000, messages: conversation },
      tools: [{ name: TOOL, input_schema: SCHEMA }],
    };
    const answer = () =>
      isStream ? client.messages.stream(body).finalMessage() : client.messages.create({ ...body, stream: false });
    const { content, stop_reason } = await answer();
    const calls = content.filter((block) => block.type === 'tool_use');
    return {
      calls: calls.map(({ input }) => input),
      reason: stop_reason,
      async send(results) {
        conversation.push(
          { role: 'assistant', content },
          {
            role: 'user',
            content: calls.map(({ id }, index) => ({
              ...{ type: 'tool_result' as const, tool_use_id: id },
              content: results[index] ?? '',
            })),
          },
        );
        return (await answer()).content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      },
    };
  },
};

const SURFACES = { 'chat/completions': chatCompletions, responses, messages };
const PAIRS = [openAi, openAiResponses, anthropic, gemini, ollama].map(
  (dialect) => [dialect.protocol, dialect] as const,
);

describe.each(PAIRS)('a provider with the protocol %s', (_, dialect) => {
  const [ofCalls, ofText] = dialect === anthropic ? ['tool_use', 'end_turn'] : ['stop', 'stop'];
  let provider: ScriptedProvider;
  let service: RunningService;
  let clients: Clients;

  beforeAll(async () => {
    provider = await ScriptedProvider.start(dialect);
    service = await startService(routesTo([provider]));
    const { key: apiKey } = await service.createKey();
    clients = {
      openai: new OpenAI({ apiKey, baseURL: `${service.origin}/api/v1`, maxRetries: 0 }),
      anthropic: new Anthropic({ apiKey, baseURL: `${service.origin}/api`, maxRetries: 0 }),
    };
  });
  afterAll(async () => {
    await service.stop();
    await provider.stop();
  });

  describe.each(Object.entries(SURFACES))('and a client of %s', (__, surface) => {
    it.each([
      ['whole', false],
      ['streamed', true],
    ])('call two tools at once, %s, and the results reach the provider', async (___, isStream) => {
      provider.next(
        (call) => {
          call.head().reasoning('Hm.').text('I look.');
          call.toolCall(TOOL, '{"city":"Oslo"}').toolCall(TOOL, '{"city":"Rome"}').finish(ofCalls).endMarker().end();
        },
        (call) => {
          call.head().text('Hail and ').text('sun.').finish(ofText).endMarker().end();
        },
      );
      const { calls, reason, send } = await surface.ask(clients, isStream);
      expect(calls).toEqual([{ city: 'Oslo' }, { city: 'Rome' }]);
      expect(reason).toBe(surface.reason);
      expect(await send(['Hail there', 'Sun here'])).toBe('Hail and sun.');
      const sent = provider.calls.at(-1)?.body ?? '';
      for (const text of [QUESTION, 'I look.', 'Oslo', 'Rome', 'Hail there', 'Sun here']) expect(sent).toContain(text);
      expect(sent.indexOf('Hail there')).toBeLessThan(sent.indexOf('Sun here'));
    });

    it.each([
      ['whole', false],
      ['streamed', true],
    ])('get an error when the answer is cut after a call, %s', async (___, isStream) => {
      provider.next((call) => {
        call.head().text('I look.').toolCall(TOOL, '{"city":"Oslo"}');
        void call.cut();
      });
      const failure: unknown = await surface.ask(clients, isStream).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
    });
  });
});
