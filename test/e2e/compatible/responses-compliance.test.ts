import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkEvents, eventsOf, ResponseResource } from '../../support/open-responses.js';
import { callParts, COMPLETE, say, ScriptedModel } from './scripted-model.js';

const user = (content: unknown) => ({ type: 'message', role: 'user', content });
const WEATHER = {
  type: 'function',
  name: 'get_weather',
  description: 'Get the current weather for a location',
  parameters: { type: 'object', properties: { location: { type: 'string' } }, required: ['location'] },
};
const HEART =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const TEXT = [say('Hello '), say('there.'), COMPLETE];
const CALL = [...callParts('call_1', 'get_weather', '{"location":"San Francisco, CA"}'), COMPLETE];

/** The cases of the compliance test of Open Responses, without those of tools that the service does not run. */
const CASES = [
  { name: 'basic-response', input: [user('Say hello in exactly 3 words.')] },
  { name: 'streaming-response', input: [user('Count from 1 to 5.')] },
  {
    name: 'system-prompt',
    input: [{ type: 'message', role: 'system', content: 'You are a pirate.' }, user('Say hello.')],
  },
  { name: 'tool-calling', input: [user('How is the weather in San Francisco?')], tools: [WEATHER] },
  {
    name: 'image-input',
    input: [
      user([
        { type: 'input_text', text: 'What do you see?' },
        { type: 'input_image', image_url: HEART },
      ]),
    ],
  },
  {
    name: 'multi-turn',
    input: [
      user('My name is Alice.'),
      { type: 'message', role: 'assistant', content: 'Hello Alice!' },
      user('What is my name?'),
    ],
  },
];

describe('the compliance test of Open Responses', () => {
  let model: ScriptedModel;

  beforeAll(async () => {
    model = await ScriptedModel.start({ requests_per_minute: 1_000 });
  });
  afterAll(() => model.stop());

  const send = async (body: object): Promise<Response> => {
    const response = await fetch(`${model.baseUrl}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${model.key}` },
      body: JSON.stringify({ model: 'acme/fast', ...body }),
    });
    expect(response.status).toBe(200);
    return response;
  };

  it.each(CASES)('passes with $name', async ({ input, tools }) => {
    const body = { input, tools };
    const type = tools === undefined ? 'message' : 'function_call';
    model.answers(...(type === 'message' ? TEXT : CALL));
    const whole = ResponseResource.parse(await (await send({ ...body, stream: false })).json());
    expect(whole.status).toBe('completed');
    expect(whole.output.map((item) => item.type)).toEqual([type]);

    const response = await send({ ...body, stream: true });
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    const events = eventsOf(await response.text());
    const streamed = checkEvents(events);
    // The ids and the times belong to each response.
    const withoutIds = (resource: ResponseResource) => ({
      ...resource,
      ...{ id: '', created_at: 0, completed_at: 0 },
      output: resource.output.map((item) => ({ ...item, id: '' })),
    });
    expect(withoutIds(streamed)).toEqual(withoutIds(whole));
    expect(events).toContainEqual(
      expect.objectContaining({
        type: 'response.output_item.added',
        item: expect.objectContaining({ type }) as object,
      }),
    );
    expect(events).toContainEqual(
      expect.objectContaining({ type: 'response.output_item.done', item: expect.objectContaining({ type }) as object }),
    );
  });

  it('passes with function-call-roundtrip, with all items instead of the id of the response', async () => {
    model.answers(...CALL);
    const question = { input: 'What is the temperature in San Francisco?', tools: [WEATHER] };
    const choice = { tool_choice: { type: 'function', name: 'get_weather' } };
    const first = ResponseResource.parse(await (await send({ ...question, ...choice, stream: false })).json());
    const [call] = first.output;
    if (call?.type !== 'function_call') throw new Error('The first response has no call.');
    expect(first.tool_choice).toEqual(choice.tool_choice);

    model.answers(...TEXT);
    const result = { type: 'function_call_output', call_id: call.call_id, output: '64 degrees and clear' };
    const input = [user(question.input), ...first.output, result];
    const second = ResponseResource.parse(await (await send({ input, tools: [WEATHER], stream: false })).json());
    expect(second.status).toBe('completed');
    expect(second.output.map(({ type }) => type)).toEqual(['message']);
    expect(model.lastCall.messages.at(-1)).toEqual({
      role: 'tool',
      content: [{ toolCallId: call.call_id, content: result.output }],
    });
  });

  /** What a service that stores nothing cannot do. */
  it.each([
    ['previous-response-id', { previous_response_id: 'resp_1', input: 'Hello!' }, 'previous_response_id', 'input'],
    [
      'file-input',
      { input: [user([{ type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' }])] },
      'input.0.content.0.type',
      'input_image',
    ],
    [
      'file-search',
      { input: 'Hello!', tools: [{ type: 'file_search' }], tool_choice: { type: 'file_search' } },
      'tool_choice.type',
      'function',
    ],
  ])('gets an error for %s that names the member and says what to send', async (_, body, param, advice) => {
    const response = await fetch(`${model.baseUrl}/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${model.key}` },
      body: JSON.stringify({ model: 'acme/fast', ...body }),
    });
    expect(response.status).toBe(400);
    const { error } = (await response.json()) as { error: { param: string; message: string } };
    expect(error.param).toBe(param);
    expect(error.message).toContain(advice);
  });
});
