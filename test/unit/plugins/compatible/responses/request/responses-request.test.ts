import { describe, expect, it } from 'vitest';
import {
  bodyField,
  RESPONSES_BODY,
  type ResponsesRequest,
} from '../../../../../../src/plugins/compatible/responses/request/responses-request.js';

const ignored: string[] = [];
const parse = async (body: object): Promise<ResponsesRequest> => {
  ignored.length = 0;
  return RESPONSES_BODY.parse({ model: 'fast', ...body }, (name) => ignored.push(name));
};
const messagesOf = async (input: unknown): Promise<unknown> => (await parse({ input })).conversation.messages;

/** An item as OpenAI makes it. */
const REASONING = {
  ...{ id: 'rs_1', type: 'reasoning', encrypted_content: 'enc' },
  summary: [{ type: 'summary_text', text: 'Hm.' }],
};

describe('a body of POST /responses', () => {
  it('joins the items of one answer, and the results of its calls', async () => {
    const messages = await messagesOf([
      { role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      REASONING,
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Wait' }], phase: 'commentary' },
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '' },
      { type: 'function_call', call_id: 'c2', name: 'f', arguments: '{"a":1}', status: 'completed' },
      { type: 'function_call_output', call_id: 'c1', output: '' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: 'two' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }] },
      { type: 'message', role: 'assistant', content: '' },
      { role: 'developer', content: 'Be kind.' },
    ]);
    expect(messages).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', encrypted: `openai-responses:${JSON.stringify(REASONING)}` },
          { type: 'text', text: 'Wait' },
          { type: 'tool_call', id: 'c1', name: 'f', json: '{}' },
          { type: 'tool_call', id: 'c2', name: 'f', json: '{"a":1}' },
        ],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: 'c1', content: '' },
          { toolCallId: 'c2', content: 'two' },
        ],
      },
      { role: 'assistant', content: 'No.' },
      { role: 'system', content: 'Be kind.' },
    ]);
  });

  it('reads null as a missing member', async () => {
    const nothing = ['instructions', 'tools', 'tool_choice', 'text', 'reasoning', 'include', 'metadata', 'temperature'];
    const others = ['previous_response_id', 'background', 'max_output_tokens', 'stream', 'parallel_tool_calls', 'user'];
    const body = Object.fromEntries([...nothing, ...others].map((name) => [name, null]));
    const { conversation, isStream } = await parse({ input: 'Hi', ...body });
    expect(JSON.parse(JSON.stringify(conversation))).toEqual({
      model: 'fast',
      messages: [{ role: 'user', content: 'Hi' }],
    });
    expect({ isStream, ignored }).toEqual({ isStream: false, ignored: [] });
  });

  it('reads a JSON schema without a name and without a schema', async () => {
    const formatOf = async (format: object) =>
      (await parse({ input: 'Hi', text: { format } })).conversation.response_format;
    expect(await formatOf({ type: 'json_schema', schema: {} })).toMatchObject({
      type: 'json_schema',
      name: 'response',
    });
    expect(await formatOf({ type: 'json_schema' })).toEqual({ type: 'json' });
    expect(await formatOf({ type: 'json_object' })).toEqual({ type: 'json' });
    expect(await formatOf({ type: 'text' })).toBeUndefined();
  });

  it.each([
    ['model', { model: undefined, input: 'Hi' }],
    ['input', {}],
    ['input', { input: 1 }],
    ['input.0', { input: [null] }],
    ['input.0', { input: [{ id: 'msg_1' }] }],
    ['input.0.role', { input: [{ type: 'message', role: 'tool', content: 'x' }] }],
    ['input.0.content', { input: [{ role: 'user' }] }],
    ['input.0.content', { input: [{ role: 'user', content: '' }] }],
    ['input.0.content', { input: [{ role: 'system', content: [{ type: 'input_image', image_url: 'data:' }] }] }],
    ['input.0.content.0.text', { input: [{ role: 'user', content: [{ type: 'input_text' }] }] }],
    ['input.0.content.0.image_url', { input: [{ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }] }],
    ['input.0.call_id', { input: [{ type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['instructions', { input: 'Hi', instructions: ['x'] }],
    ['tools.0.name', { input: 'Hi', tools: [{ type: 'function' }] }],
    ['tools.0.parameters', { input: 'Hi', tools: [{ type: 'function', name: 'f', parameters: [] }] }],
    ['tool_choice', { input: 'Hi', tool_choice: 'any' }],
    ['tool_choice.tools', { input: 'Hi', tool_choice: { type: 'allowed_tools', tools: [] } }],
    ['text.format.type', { input: 'Hi', text: { format: { type: 'xml' } } }],
    ['reasoning.effort', { input: 'Hi', reasoning: { effort: 'huge' } }],
    ['stream', { input: 'Hi', stream: 'yes' }],
    ['include', { input: 'Hi', include: 'x' }],
  ])('with an invalid %s is refused', async (field, body) => {
    await expect(parse(body)).rejects.toMatchObject({ code: 'invalid_request', details: [{ field }] });
  });

  it('keeps the paths of its members for errors of the conversation', async () => {
    const request = await parse({
      instructions: 'Be kind.',
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: '' },
            { type: 'input_image', image_url: 'data:' },
          ],
        },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: 'x' },
      ],
    });
    const field = (path: string) => bodyField(path, request);
    expect(field('messages.0.content')).toBe('instructions');
    expect(field('messages.1.content.0.url')).toBe('input.0.content.1.image_url');
    expect(field('messages.2.content.0.json')).toBe('input.1.arguments');
    expect(field('messages.3.content.0.toolCallId')).toBe('input.2.call_id');
    expect(field('messages')).toBe('input');
    expect(field('max_tokens')).toBe('max_output_tokens');
    expect(field('response_format.schema')).toBe('text.format.schema');
    expect(field('tools.3.name')).toBe('tools.3.name');
  });
});

describe('what a response repeats of its request', () => {
  const tools = [{ type: 'function', name: 'f', parameters: { type: 'object' } }];

  it('has no tools and no instructions that are too long to be sent back three times', async () => {
    const short = { input: 'Hi', tools, instructions: 'Be brief.' };
    expect((await parse(short)).settings).toMatchObject({ tools: [{ name: 'f' }], instructions: 'Be brief.' });
    const long = await parse({ ...short, instructions: 'x'.repeat(1024 * 1024) });
    expect(long.settings).toMatchObject({ tools: [], instructions: null });
    expect(long.conversation.tools).toHaveLength(1);
  });
});
