import { ChatAnthropic } from '@langchain/anthropic';
import { HumanMessage, ToolMessage, type AIMessageChunk } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ServiceError } from '../../src/platform/common/service-error.js';
import { callParts, COMPLETE, say, ScriptedModel, USAGE } from '../e2e/compatible/scripted-model.js';

const WEATHER = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};

const CLIENTS = {
  'ChatOpenAI with chat completions': ({ key: apiKey, baseUrl: baseURL }: ScriptedModel, maxRetries = 0) =>
    new ChatOpenAI({ model: 'acme/fast', apiKey, maxRetries, useResponsesApi: false, configuration: { baseURL } }),
  'ChatOpenAI with responses': ({ key: apiKey, baseUrl: baseURL }: ScriptedModel, maxRetries = 0) =>
    new ChatOpenAI({
      ...{ model: 'acme/fast', apiKey, maxRetries, useResponsesApi: true },
      configuration: { baseURL },
    }),
  ChatAnthropic: ({ key: apiKey, service }: ScriptedModel, maxRetries = 0, more: object = {}) =>
    new ChatAnthropic({ model: 'acme/fast', apiKey, maxRetries, anthropicApiUrl: `${service.origin}/api`, ...more }),
};

describe.each(Object.entries(CLIENTS))('LangChain, %s', (name, clientFor) => {
  const isAnthropic = name === 'ChatAnthropic';
  let scripted: ScriptedModel;
  let client: ReturnType<typeof clientFor>;

  beforeEach(async () => {
    scripted = await ScriptedModel.start({ requests_per_minute: 1_000 });
    client = clientFor(scripted);
  });
  afterEach(() => scripted.stop());

  const streamed = async (signal?: AbortSignal): Promise<AIMessageChunk> => {
    let answer: AIMessageChunk | undefined;
    for await (const chunk of await client.stream('Hello!', signal && { signal }))
      answer = answer === undefined ? chunk : answer.concat(chunk);
    if (answer === undefined) throw new Error('The stream has no chunk.');
    return answer;
  };

  it('gets a whole answer and a stream, with the usage', async () => {
    scripted.answers(say('Hel'), say('lo'), USAGE, COMPLETE);
    const answer = await client.invoke('Hello!');
    expect(answer.text).toBe('Hello');
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 12, output_tokens: 7, total_tokens: 19 });
    const stream = await streamed();
    expect(stream.text).toBe('Hello');
    // ChatAnthropic takes the input tokens from the first event, which has an estimate.
    expect(stream.usage_metadata).toMatchObject({ output_tokens: 7, ...(!isAnthropic && { input_tokens: 12 }) });
  });

  it('calls two tools at once, streamed and whole, and sends the results back', async () => {
    scripted.answers(
      ...callParts('call_1', 'weather', '{"city":"Rome"}'),
      ...callParts('call_2', 'weather', '{"city":"Oslo"}'),
      COMPLETE,
    );
    const bound = client.bindTools([WEATHER]);
    let last: AIMessageChunk | undefined;
    for await (const chunk of await bound.stream('Hello!')) last = last === undefined ? chunk : last.concat(chunk);
    const whole = await bound.invoke('Hello!');
    for (const answer of [last, whole])
      expect(answer?.tool_calls).toMatchObject([
        { id: 'call_1', name: 'weather', args: { city: 'Rome' } },
        { id: 'call_2', name: 'weather', args: { city: 'Oslo' } },
      ]);
    scripted.answers(say('Both are sunny.'), COMPLETE);
    const results = ['call_1', 'call_2'].map((id) => new ToolMessage({ tool_call_id: id, content: `sunny ${id}` }));
    const end = await bound.invoke([new HumanMessage('Hello!'), whole, ...results]);
    expect(end.text).toBe('Both are sunny.');
    expect(scripted.lastCall.messages.slice(1)).toMatchObject([
      { role: 'assistant', content: [{ id: 'call_1' }, { id: 'call_2' }] },
      { role: 'tool', content: [{ toolCallId: 'call_1' }, { toolCallId: 'call_2' }] },
    ]);
  });

  it('gets an error before a stream and in a stream', async () => {
    scripted.answers(new ServiceError('upstream_error', 'The provider has failed.'));
    await expect(streamed()).rejects.toThrow('The provider has failed.');
    await expect(client.invoke('Hello!')).rejects.toThrow('The provider has failed.');
    scripted.answers(say('Hel'), new ServiceError('upstream_error', 'The provider has failed.'));
    await expect(streamed()).rejects.toThrow('The provider has failed.');
    await expect(client.invoke('Hello!')).rejects.toThrow('The provider has failed.');
  });

  // ChatOpenAI does not read `reasoning_content` of chat completions, and sends the text of the answer only.
  it('keeps reasoning and its signature over two turns, streamed and whole', async () => {
    const keeps = name !== 'ChatOpenAI with chat completions';
    const reasoning = { type: 'reasoning' as const, text: 'A greeting.', signature: 'proof' };
    for (const isStream of [false, true]) {
      scripted.answers(reasoning, say('Hello'), COMPLETE);
      const thinking = { thinking: { type: 'enabled', budget_tokens: 1_024 }, maxTokens: 2_000 };
      const asked = clientFor(scripted, 0, thinking);
      let answer: AIMessageChunk | undefined;
      if (isStream) {
        for await (const chunk of await asked.stream('Hello!'))
          answer = answer === undefined ? chunk : answer.concat(chunk);
      } else {
        answer = await asked.invoke('Hello!');
      }
      if (answer === undefined) throw new Error('There is no answer.');
      expect(answer.text).toBe('Hello');
      scripted.answers(say('Fine.'), COMPLETE);
      expect((await asked.invoke([new HumanMessage('Hello!'), answer, new HumanMessage('How are you?')])).text).toBe(
        'Fine.',
      );
      const text = { type: 'text', text: 'Hello' };
      expect(scripted.lastCall.messages[1], isStream ? 'streamed' : 'whole').toMatchObject({
        role: 'assistant',
        content: keeps ? [reasoning, text] : [text],
      });
    }
  });
});
