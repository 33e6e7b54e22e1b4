import { describe, expect, it } from 'vitest';
import { ChatRequest } from '../../../../../src/chat/request/chat-request.dto.js';
import { ConversationValidation } from '../../../../../src/chat/request/conversation/conversation-validation.js';
import { RequestValidationPipe } from '../../../../../src/platform/http/request/request-validation.pipe.js';
import type { ConversationRequest, Message } from '../../../../../src/upstreams/contract/conversation.js';
import { leastCpuMs } from '../../../../support/least-ms.js';

const validation = new ConversationValidation(new RequestValidationPipe());
const IMAGE = { type: 'image', url: 'data:image/png;base64,aGVsbG8h' } as const;
const TOOL = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } };

const asking = (...messages: unknown[]) => ({ model: 'acme/fast', messages }) as unknown as ConversationRequest;
const user = (...content: unknown[]) => ({ role: 'user', content }) as unknown as Message;
const call = (id: string, json = '{}') => ({
  role: 'assistant',
  content: [{ type: 'tool_call', id, name: 'weather', json }],
});
const result = (...ids: string[]) => ({
  role: 'tool',
  content: ids.map((toolCallId) => ({ toolCallId, content: '' })),
});

async function problemsOf(request: unknown): Promise<unknown> {
  const failure: unknown = await validation.validated(request as ConversationRequest).catch((error: unknown) => error);
  expect(failure).toMatchObject({ code: 'invalid_request' });
  return (failure as { details: { field: string; message: string }[] }).details.map(({ field, message }) => [
    field,
    message,
  ]);
}

function nested(depth: number): object {
  let schema: object = {};
  for (let level = 0; level < depth; level += 1) schema = { items: schema };
  return schema;
}

describe('a conversation that a plugin builds', () => {
  it('is a request of POST /chat/stream if it has only texts', async () => {
    const valid = await validation.validated({ ...asking({ role: 'user', content: 'Hi' }), tools: undefined });
    expect(valid).toBeInstanceOf(ChatRequest);
  });

  it('keeps images, tools, results, reasoning and formats', async () => {
    const request: ConversationRequest = {
      model: 'acme/fast',
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache: { ttl: '1h' } }] },
        user({ type: 'text', text: 'What is this?' }, IMAGE, { type: 'image', url: 'https://example.com/a.webp' }),
        {
          role: 'assistant',
          content: [
            { type: 'reasoning', text: '', encrypted: 'opaque' },
            { type: 'tool_call', id: 'a', name: 'weather', json: '{"city":"Oslo"}' },
            { type: 'tool_call', id: 'b', name: 'weather', json: '{}', signature: 'sig' },
          ],
        },
        {
          role: 'tool',
          content: [
            { toolCallId: 'b', content: 'rain', isError: true },
            { toolCallId: 'a', content: [{ type: 'text', text: 'sun' }, IMAGE] },
          ],
        },
      ],
      tools: [TOOL],
      tool_choice: { tool: 'weather' },
      parallel_tool_calls: false,
      response_format: { type: 'json_schema', name: 'answer', schema: { type: 'object' }, strict: true },
      reasoning: { effort: 'low', include_text: true },
      user: 'person-1',
      temperature: 0.5,
    };
    expect(await validation.validated(request)).toEqual(request);
  });

  it('follows the rules of POST /chat/stream for its options', async () => {
    expect(await problemsOf({ ...asking(user(IMAGE)), temperature: 3, colour: 1 })).toEqual([
      ['colour', 'is not a known member'],
      ['temperature', 'must be at most 2'],
    ]);
  });

  it.each<[string, unknown, string, string | RegExp]>([
    ['no messages', { ...asking(), tools: [TOOL] }, 'messages', 'must not be empty'],
    ['an unknown role', asking({ role: 'robot', content: [IMAGE] }), 'messages.0.role', /system/],
    ['a part of an unknown type', asking(user({ type: 'video' })), 'messages.0.content.0.type', /text|image/],
    ['an image of the system', asking({ role: 'system', content: [IMAGE] }), 'messages.0.content.0.type', /text/],
    ['an empty text', asking(user({ type: 'text', text: '' })), 'messages.0.content.0.text', 'must not be empty'],
    ['an unknown member', asking(user({ ...IMAGE, size: 1 })), 'messages.0.content.0.size', 'is not a known member'],
    [
      'a content of no type',
      asking(user(IMAGE), { role: 'user', content: 7 }),
      'messages.1.content',
      /string|array|types/,
    ],
    [
      'a picture over http',
      asking(user({ ...IMAGE, url: 'http://example.com/a.png' })),
      'messages.0.content.0.url',
      'must be a data URL or an https URL',
    ],
    [
      'a media type that is not supported',
      asking(user({ ...IMAGE, url: 'data:image/tiff;base64,aGVsbG8h' })),
      'messages.0.content.0.url',
      /image\/png, image\/jpeg, image\/gif, image\/webp/,
    ],
    [
      'another media type than stated',
      asking(user({ ...IMAGE, mediaType: 'image/gif' })),
      'messages.0.content.0.url',
      /mediaType/,
    ],
    [
      'invalid base64',
      asking(user({ ...IMAGE, url: 'data:image/png;base64,aGVsb' })),
      'messages.0.content.0.url',
      'must contain valid base64',
    ],
    [
      '101 images',
      asking(user(...Array.from({ length: 101 }, () => IMAGE))),
      'messages',
      'must contain at most 100 images',
    ],
    [
      'two calls with one id',
      asking({ role: 'assistant', content: [...call('a').content, ...call('a').content] }),
      'messages.0.content.1.id',
      /another tool call/,
    ],
    ['a result without a call', asking(call('a'), result('b')), 'messages.1.content.0.toolCallId', /earlier tool call/],
    [
      'two results of one call',
      asking(call('a'), result('a', 'a')),
      'messages.1.content.1.toolCallId',
      /without a result/,
    ],
    [
      'a name of a tool with a space',
      { ...asking(user(IMAGE)), tools: [{ ...TOOL, name: 'the weather' }] },
      'tools.0.name',
      /1 to 128/,
    ],
    ['two tools with one name', { ...asking(user(IMAGE)), tools: [TOOL, TOOL] }, 'tools.1.name', /another tool/],
    [
      'a schema that is a list',
      { ...asking(user(IMAGE)), tools: [{ ...TOOL, parameters: [] }] },
      'tools.0.parameters',
      'must be an object',
    ],
    [
      'a schema that is too deep',
      { ...asking(user(IMAGE)), tools: [{ ...TOOL, parameters: nested(65) }] },
      'tools.0.parameters',
      'must have at most 64 levels',
    ],
    [
      'a schema that is too long',
      { ...asking(user(IMAGE)), tools: [{ ...TOOL, parameters: { description: 'x'.repeat(131_072) } }] },
      'tools.0.parameters',
      /characters/,
    ],
    [
      'a choice of an unknown tool',
      { ...asking(user(IMAGE)), tools: [TOOL], tool_choice: { tool: 'time' } },
      'tool_choice.tool',
      /name of a tool/,
    ],
    [
      'an unknown choice',
      { ...asking(user(IMAGE)), tools: [TOOL], tool_choice: 'sometimes' },
      'tool_choice',
      /auto, none, required or/,
    ],
    [
      'a required tool without tools',
      { ...asking(user(IMAGE)), tool_choice: 'required' },
      'tool_choice',
      /without tools/,
    ],
    [
      'an unknown effort',
      { ...asking(user(IMAGE)), reasoning: { effort: 'huge' } },
      'reasoning.effort',
      /none, minimal/,
    ],
    [
      'a budget of no tokens',
      { ...asking(user(IMAGE)), reasoning: { budget_tokens: 0 } },
      'reasoning.budget_tokens',
      'must be at least 1',
    ],
    [
      'reasoning of nothing',
      asking({ role: 'assistant', content: [{ type: 'reasoning', text: '' }] }),
      'messages.0.content.0.text',
      /without a signature/,
    ],
  ])('is refused for %s, by name', async (_, request, field, message) => {
    expect(await problemsOf(request)).toEqual([
      [field, typeof message === 'string' ? message : (expect.stringMatching(message) as unknown)],
    ]);
  });

  it('may use the id of a call again in a later turn', async () => {
    const request = asking(call('a'), result('a'), call('a'), result('a'));
    expect(await validation.validated(request)).toEqual(request);
  });

  it('is checked in a few milliseconds with 20 images of 150 KB', async () => {
    const url = `data:image/jpeg;base64,${'QUJD'.repeat(50_000)}`;
    const request = asking(user(...Array.from({ length: 20 }, () => ({ type: 'image', url }))));
    expect(await leastCpuMs(() => validation.validated(request))).toBeLessThan(150);
  });
});
