import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openAi, openAiResponses } from '../../../src/testing/provider/dialects.js';
import type { ProviderCall } from '../../../src/testing/provider/provider-call.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { MODEL, routesTo } from '../../support/catalog.js';
import { refusing } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';

const TOOL = {
  ...{ type: 'function' as const, name: 'get_weather', strict: false },
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};
const QUESTION: ResponseInputItem = { role: 'user', content: 'How is the weather in Oslo?' };

const typed = (body: { readonly type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`;

/** An item of reasoning as OpenAI sends it with `store: false`. */
function reasoning(id: string) {
  const summary = [
    { type: 'summary_text', text: 'I need the weather.' },
    { type: 'summary_text', text: 'Then I answer.' },
  ];
  return { id, type: 'reasoning', encrypted_content: `gAAAAAB-of-${id}`, summary };
}

/** Sends reasoning and a call. */
function callsTool(id: string) {
  return (call: ProviderCall): void => {
    const item = { ...reasoning(id), status: 'completed' };
    call.head().write(typed({ type: 'response.output_item.done', ...{ output_index: 0, item } }));
    call.toolCall('get_weather', '{"city":"Oslo"}').finish().end();
  };
}

/** The items of reasoning in a request. */
function reasoningIn(call: ProviderCall | undefined): unknown[] {
  const input = (call?.json.input ?? []) as readonly { readonly type?: string }[];
  return input.filter(({ type }) => type === 'reasoning');
}

describe('a model at two upstreams with the protocol openai-responses', () => {
  let first: ScriptedProvider;
  let second: ScriptedProvider;
  let service: RunningService;
  let openai: OpenAI;

  beforeAll(async () => {
    first = await ScriptedProvider.start(openAiResponses);
    second = await ScriptedProvider.start(openAiResponses);
    const { upstreams, models } = routesTo([first, second]);
    const [model] = models;
    service = await startService({
      upstreams,
      models: [{ ...model, capabilities: ['images', 'tools', 'structured_output', 'reasoning'] }],
    });
    const { key } = await service.createKey();
    openai = new OpenAI({ apiKey: key, baseURL: `${service.origin}/api/v1`, maxRetries: 0 });
  });
  beforeEach(() => {
    first.calls.length = 0;
    second.calls.length = 0;
  });
  afterAll(async () => {
    await service.stop();
    await first.stop();
    await second.stop();
  });

  const respond = (input: readonly ResponseInputItem[]) =>
    openai.responses.create({ model: MODEL, input: [...input], store: false, tools: [TOOL] });
  const result: ResponseInputItem = { type: 'function_call_output', call_id: 'call_0', output: 'Hail' };

  it('sends reasoning back to its maker, unchanged and with its id', async () => {
    first.next(callsTool('rs_one'));
    const { output } = await respond([QUESTION]);
    expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call']);
    const answer = await respond([QUESTION, ...(output as ResponseInputItem[]), result]);
    expect(answer.output_text).toBe('Hello world');
    const [, turn] = first.calls;
    expect(reasoningIn(turn)).toEqual([reasoning('rs_one')]);
    const types = (turn?.json.input as { type?: string; role?: string }[]).map(({ type, role }) => type ?? role);
    expect(types).toEqual(['user', 'reasoning', 'function_call', 'function_call_output']);
    expect(second.calls).toHaveLength(0);
  });

  it('asks the maker of the reasoning first, and leaves it out elsewhere', async () => {
    first.next(refusing(500));
    second.next(callsTool('rs_two'));
    const { output } = await respond([QUESTION]);
    const turn = [QUESTION, ...(output as ResponseInputItem[]), result];
    expect((await respond(turn)).output_text).toBe('Hello world');
    expect(first.calls).toHaveLength(1);
    expect(reasoningIn(second.calls[1])).toEqual([reasoning('rs_two')]);

    second.next(refusing(500));
    expect((await respond(turn)).output_text).toBe('Hello world');
    expect(second.calls).toHaveLength(3);
    expect(first.calls).toHaveLength(2);
    expect(reasoningIn(first.calls[1])).toEqual([]);
    expect(first.calls[1]?.body).toContain('get_weather');
  });

  it('leaves out reasoning that its maker cannot read any longer, and tries once more', async () => {
    const error = {
      type: 'invalid_request_error',
      code: 'invalid_encrypted_content',
      message: 'It could not be verified.',
    };
    const refuse = (call: ProviderCall): void => {
      call.refuse(400, {}, JSON.stringify({ error }));
    };
    first.next(callsTool('rs_one'));
    const { output } = await respond([QUESTION]);
    const turn = [QUESTION, ...(output as ResponseInputItem[]), result];
    first.next(refuse);
    expect((await respond(turn)).output_text).toBe('Hello world');
    expect(first.calls.map(reasoningIn)).toEqual([[], [reasoning('rs_one')], []]);
    expect(first.calls[2]?.body).toContain('get_weather');

    first.next(refuse);
    first.next(refuse);
    await expect(respond(turn)).rejects.toMatchObject({ status: 400 });
    expect([first.calls.length, second.calls.length]).toEqual([5, 0]);
  });

  it('passes on reasoning that the client has from OpenAI, to the first upstream only', async () => {
    first.next(refusing(500));
    const item = reasoning('rs_elsewhere') as ResponseInputItem;
    await respond([QUESTION, item, { role: 'assistant', content: 'It hails.' }, { role: 'user', content: 'And now?' }]);
    expect(reasoningIn(first.calls[0])).toEqual([item]);
    expect(reasoningIn(second.calls[0])).toEqual([]);
  });

  it('gets no temperature, top_p or penalties, since the model reasons', async () => {
    const body = { model: MODEL, messages: [{ role: 'user' as const, content: 'Hi' }] };
    await openai.chat.completions.create({
      ...body,
      temperature: 0.3,
      top_p: 0.5,
      presence_penalty: 1,
      frequency_penalty: 1,
    });
    await openai.chat.completions.create(body);
    for (const call of first.calls) {
      expect(Object.keys(call.json)).not.toContain('temperature');
      expect(call.body).not.toMatch(/top_p|penalty/);
    }
    const refused = openai.chat.completions.create({ ...body, stop: 'END' });
    await expect(refused).rejects.toMatchObject({ status: 400, param: 'stop' });
  });

  it('counts the tokens of an answer that is cut by its limit', async () => {
    first.next((call) => {
      const usage = {
        ...{ input_tokens: 30, input_tokens_details: { cached_tokens: 20 }, output_tokens: 16, total_tokens: 46 },
        output_tokens_details: { reasoning_tokens: 8 },
      };
      const response = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' }, output: [], usage };
      call
        .head()
        .text('Once')
        .write(typed({ type: 'response.incomplete', ...{ response } }))
        .end();
    });
    const response = await openai.responses.create({ model: MODEL, input: 'Hi', max_output_tokens: 16 });
    expect(response).toMatchObject({
      ...{ status: 'incomplete', output_text: 'Once' },
      usage: {
        ...{ input_tokens: 30, input_tokens_details: { cached_tokens: 20 }, output_tokens: 16 },
        output_tokens_details: { reasoning_tokens: 8 },
      },
    });
  });

  it('goes to the next route as long as the first has only announced its response', async () => {
    first.next(async (call) => {
      const response = { id: 'resp_1', status: 'in_progress', output: [] };
      call.head().write(typed({ type: 'response.created', ...{ response } }));
      call.write(typed({ type: 'response.in_progress', ...{ response } }));
      await call.cut();
    });
    expect((await respond([QUESTION])).output_text).toBe('Hello world');
    expect(second.calls).toHaveLength(1);
  });

  it('fails when the provider goes away in the answer', async () => {
    first.next(async (call) => {
      call.head().text('Half an');
      await call.cut('fin');
    });
    await expect(respond([QUESTION])).rejects.toMatchObject({ status: 502 });
  });
});

describe('a conversation that begins at openai-responses', () => {
  it('goes on at another protocol without the reasoning', async () => {
    const first = await ScriptedProvider.start(openAiResponses);
    const second = await ScriptedProvider.start(openAi);
    const service = await startService(routesTo([first, second]));
    try {
      const { key } = await service.createKey();
      const openai = new OpenAI({ apiKey: key, baseURL: `${service.origin}/api/v1`, maxRetries: 0 });
      first.next(callsTool('rs_one'), refusing(500));
      const respond = (input: ResponseInputItem[]) => openai.responses.create({ model: MODEL, input, tools: [TOOL] });
      const { output } = await respond([QUESTION]);
      const result: ResponseInputItem = { type: 'function_call_output', call_id: 'call_0', output: 'Hail' };
      expect((await respond([QUESTION, ...(output as ResponseInputItem[]), result])).output_text).toBe('Hello world');
      expect(second.calls[0]?.body).not.toContain('gAAAAAB');
    } finally {
      await service.stop();
      await first.stop();
      await second.stop();
    }
  });
});
