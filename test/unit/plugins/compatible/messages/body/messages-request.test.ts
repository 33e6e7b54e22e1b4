import { describe, expect, it } from 'vitest';
import { ServiceError } from '../../../../../../src/platform/common/service-error.js';
import { MESSAGES_PARSER } from '../../../../../../src/plugins/compatible/messages/body/messages-request.js';

const hello = { role: 'user', content: 'Hello' };
const base = { model: 'acme/fast', max_tokens: 100, messages: [hello] };

async function parse(members: object) {
  const ignored: string[] = [];
  const request = await MESSAGES_PARSER.parse({ ...base, ...members }, (name) => ignored.push(name));
  return { ...request, ignored };
}

async function problems(members: object): Promise<unknown> {
  try {
    await parse(members);
    return undefined;
  } catch (error) {
    return Object.fromEntries((error as ServiceError).details?.map(({ field, message }) => [field, message]) ?? []);
  }
}

describe('a body of POST messages', () => {
  it('passes its options on under the names of the service', async () => {
    const { conversation, isStream } = await parse({
      stream: true,
      temperature: 0.2,
      top_p: 0.9,
      stop_sequences: ['END'],
      metadata: { user_id: 'person-1' },
      tools: [{ name: 'weather', description: 'The weather', input_schema: { type: 'object' }, strict: true }],
      tool_choice: { type: 'tool', name: 'weather', disable_parallel_tool_use: true },
      output_config: { format: { type: 'json_schema', schema: { type: 'object' } } },
      thinking: { type: 'enabled', budget_tokens: 2048 },
    });
    expect(isStream).toBe(true);
    expect(conversation).toEqual({
      model: 'acme/fast',
      max_tokens: 100,
      messages: [hello],
      temperature: 0.2,
      top_p: 0.9,
      stop: ['END'],
      user: 'person-1',
      tools: [{ name: 'weather', description: 'The weather', parameters: { type: 'object' }, strict: true }],
      tool_choice: { tool: 'weather' },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true },
      reasoning: { budget_tokens: 2048, include_text: true },
    });
  });

  it.each([
    [{ thinking: { type: 'disabled' } }, { effort: 'none' }, 'none'],
    [{ thinking: { type: 'between_tools' } }, { include_text: true }, 'shown'],
    [{ thinking: { type: 'adaptive', display: 'omitted' } }, { include_text: false }, 'omitted'],
  ])('has the reasoning of %j', async (members, reasoning, thinking) => {
    const parsed = await parse(members);
    expect(parsed.conversation.reasoning).toEqual(reasoning);
    expect(parsed.thinking).toBe(thinking);
  });

  it('ignores members that change nothing and members that it does not know, and names them', async () => {
    const { ignored } = await parse({
      top_k: 5,
      service_tier: 'auto',
      next_month: { deep: 1 },
      metadata: { user_id: 'a', team: 'b' },
      tools: [
        { type: 'custom', name: 'a', input_schema: { extra: { deep: 1 } }, defer_loading: true },
        { name: 'b', input_schema: {}, defer_loading: true },
      ],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello', mood: 'good' }], at: 1 }],
    });
    expect([...new Set(ignored)].sort()).toEqual([
      'messages.at',
      'messages.content.mood',
      'metadata.team',
      'next_month',
      'service_tier',
      'top_k',
    ]);
  });

  it.each([
    [{ max_tokens: undefined }, { max_tokens: 'is required' }],
    [{ max_tokens: 0 }, { max_tokens: 'must be at least 1' }],
    [{ model: undefined }, { model: 'is required' }],
    [{ messages: [] }, { messages: 'must not be empty' }],
    [{ messages: 'Hello' }, { messages: 'must be an array' }],
    [{ messages: [{ role: 'tool', content: '' }] }, { 'messages.0.role': 'must be user, assistant or system' }],
    [{ stream: 'yes' }, { stream: 'must be true or false' }],
    [
      { tools: [{ type: 'bash_20250124', name: 'bash' }] },
      { 'tools.0.type': 'the tool bash_20250124 is not supported: define a tool with an input_schema' },
    ],
    [{ tools: [{ name: 'a' }] }, { 'tools.0.input_schema': 'is required' }],
    [{ tool_choice: { type: 'all' } }, { 'tool_choice.type': 'must be auto, any, tool or none' }],
    [{ thinking: { type: 'enabled' } }, { 'thinking.budget_tokens': 'is required' }],
    [
      { messages: [{ role: 'user', content: [{ type: 'document', source: {} }] }] },
      { 'messages.0.content.0.type': 'document is not supported: must be text, image, or tool_result' },
    ],
    [
      { messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'f' } }] }] },
      { 'messages.0.content.0.source.type': 'file is not supported: must be base64 or url' },
    ],
    [
      { messages: [hello, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: 'c' }] }] },
      { 'messages.1.content.0.input': 'must be an object' },
    ],
    [
      { mcp_servers: [{ type: 'url' }] },
      { mcp_servers: 'is not supported: connect to MCP servers in the client, and send their tools in tools' },
    ],
    [
      { thread: { type: 'continue', previous_message_id: 'msg_1' } },
      {
        thread:
          'is not available, because the service stores no conversations: send the whole conversation in messages',
      },
    ],
    [{ container: 'c' }, { container: 'is not supported: the service runs no code' }],
  ])('is refused by name: %j', async (members, expected) => {
    expect(await problems(members)).toEqual(expected);
  });
});
