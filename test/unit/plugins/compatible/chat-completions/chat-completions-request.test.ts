import { describe, expect, it } from 'vitest';
import { chatCompletionsNames } from '../../../../../src/plugins/compatible/chat-completions/chat-completions-answer.js';
import {
  CHAT_COMPLETIONS_BODY,
  type ChatCompletionsRequest,
} from '../../../../../src/plugins/compatible/chat-completions/chat-completions-request.js';
import { placedField } from '../../../../../src/plugins/compatible/shared/error-formats.js';

const HELLO = { role: 'user', content: 'Hello' };
const TOOL = { type: 'function', function: { name: 'clock' } };
const call = (id: string) => ({ id, type: 'function', function: { name: 'clock', arguments: '{}' } });
const ignored: string[] = [];
const parse = async (body: object): Promise<ChatCompletionsRequest> => {
  ignored.length = 0;
  return CHAT_COMPLETIONS_BODY.parse({ model: 'fast', messages: [HELLO], ...body }, (name) => ignored.push(name));
};

describe('a body of POST /chat/completions', () => {
  it('keeps a demand for a call without tools, so that the validation of the conversation refuses it', async () => {
    const named = { type: 'function', function: { name: 'clock' } };
    expect((await parse({ tool_choice: 'required' })).conversation.tool_choice).toBe('required');
    expect((await parse({ tool_choice: named })).conversation.tool_choice).toEqual({ tool: 'clock' });
    expect((await parse({ tool_choice: 'auto', tools: [] })).conversation).not.toHaveProperty('tool_choice');
    const { conversation } = await parse({ tools: [TOOL], tool_choice: named });
    expect(conversation.tool_choice).toEqual({ tool: 'clock' });
    expect(ignored).toEqual([]);
  });

  it.each([
    [{ stream_options: { include_usage: true, include_obfuscation: false } }, ['stream_options.include_obfuscation']],
    [{ max_completion_tokens: 5, max_tokens: 9 }, ['max_tokens']],
    [{ messages: [{ ...HELLO, name: 'ada' }] }, ['messages.name']],
    [
      { response_format: { type: 'json_schema', json_schema: { name: 'a', hint: 1 } } },
      ['response_format.json_schema.hint'],
    ],
  ])('names the members of %j that have no effect', async (body, expected) => {
    await parse(body);
    expect(ignored).toEqual(expected);
  });

  it.each(['previous_response_id', 'conversation'])('refuses %s, because nothing is stored', async (name) => {
    await expect(parse({ [name]: 'resp_1' })).rejects.toMatchObject({ details: [{ field: name }] });
  });

  it('leaves out empty texts beside other parts', async () => {
    const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png', detail: 'original' } };
    const { conversation } = await parse({
      messages: [{ role: 'user', content: [{ type: 'text', text: '' }, image] }],
    });
    expect(conversation.messages).toEqual([
      { role: 'user', content: [{ type: 'image', url: 'https://example.com/a.png', detail: 'high' }] },
    ]);
  });

  it('reads the effort `max` as `xhigh`', async () => {
    expect((await parse({ reasoning_effort: 'max' })).conversation.reasoning).toEqual({ effort: 'xhigh' });
  });

  it('returns the errors of its conversation with its own paths', async () => {
    const { places, conversation } = await parse({
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '' },
            { type: 'image_url', image_url: { url: 'ftp://a' } },
          ],
        },
        { role: 'assistant', content: '' },
        { role: 'assistant', content: 'Wait', reasoning_content: 'Hm', tool_calls: [call('a'), call('b')] },
        { role: 'tool', tool_call_id: 'a', content: 'one' },
        { role: 'tool', tool_call_id: 'b', content: 'two' },
        { role: 'user', content: '' },
      ],
    });
    expect(conversation.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'user']);
    const fields = [
      ...['messages.0.content.0.url', 'messages.1.content.3.json', 'messages.1.content.2.name'],
      ...['messages.2.content.1.toolCallId', 'messages.3.content', 'tools.0.name', 'max_tokens'],
    ];
    expect(fields.map((field) => placedField(field, places, chatCompletionsNames(true)))).toEqual([
      ...['messages.0.content.1.image_url.url', 'messages.2.tool_calls.1.function.arguments'],
      ...['messages.2.tool_calls.0.function.name', 'messages.4.tool_call_id', 'messages.5.content'],
      ...['tools.0.function.name', 'max_completion_tokens'],
    ]);
  });
});
