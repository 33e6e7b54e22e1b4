import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Principal } from '../../../src/auth/principal/principal.js';
import { ChatService } from '../../../src/chat/chat.service.js';
import type { ConversationRequest, Message } from '../../../src/upstreams/contract/conversation.js';
import type { UsageRecord } from '../../../src/usage/record/usage-record.js';
import { ollama, openAi } from '../../../src/testing/provider/dialects.js';
import { ScriptedProvider } from '../../../src/testing/provider/scripted-provider.js';
import { routesTo } from '../../support/catalog.js';
import { answering, refusing } from '../../support/scripts.js';
import { startService, type RunningService } from '../../support/service.js';

const PIXELS = 'aGVsbG8h';
const PLACE = { type: 'object', properties: { city: { type: 'string', enum: ['Oslo'] } }, required: ['city'] };
const TOOLS = [
  { name: 'get_weather', parameters: PLACE },
  { name: 'get_clock', description: 'Tells the time.', parameters: { type: 'object' } },
];
const ASKED: readonly Message[] = [
  { role: 'system', content: 'Be brief.' },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'The weather here, and what says the clock?' },
      { type: 'image', url: `data:image/png;base64,${PIXELS}` },
    ],
  },
];

let requests = 0;
const caller = () => ({
  principal: { accountId: 'ada', tier: { name: 'free' }, credential: { kind: 'external', id: 'job' } } as Principal,
  signal: new AbortController().signal,
  requestId: `job-${(requests += 1)}`,
});

describe('a conversation over the stand-in', () => {
  it('has an image, two parallel tools, their results and an answer that fits a schema', async () => {
    const models = [
      {
        ...{ id: 'acme/fast', name: 'Fast', provider: 'Acme', context_length: 8192 },
        routes: [{ upstream: 'here', model: 'eliza' }],
      },
    ];
    const records: UsageRecord[] = [];
    const service = await startService({ upstreams: { here: { protocol: 'builtin' } }, models, records });
    try {
      const chat = service.app.get(ChatService, { strict: false });
      const ask = (messages: readonly Message[], more: Partial<ConversationRequest> = {}) =>
        chat.complete({ model: 'acme/fast', messages, tools: TOOLS, parallel_tool_calls: true, ...more }, caller());
      const called = await ask(ASKED);
      expect(called.toolCalls.map(({ name, json }) => `${name} ${json}`)).toEqual([
        'get_weather {"city":"Oslo"}',
        'get_clock {}',
      ]);
      expect(called).toMatchObject({ finishReason: 'tool_calls' });
      expect(records.at(-1)).toMatchObject({ outcome: 'completed', toolCalls: 2 });
      expect(JSON.stringify(records.at(-1))).not.toMatch(/Oslo|get_clock/);
      const results = called.toolCalls.map(({ id }, index) => ({ toolCallId: id, content: `result ${index}` }));
      const messages: Message[] = [
        ...ASKED,
        { role: 'assistant', content: called.content },
        { role: 'tool', content: results },
      ];
      const { text } = await ask(messages);
      expect(text).toContain('result 0');
      expect(text).toContain('result 1');
      const response_format = { type: 'json_schema', name: 'place', schema: PLACE } as const;
      expect(JSON.parse((await ask(messages, { response_format })).text)).toEqual({ city: 'Oslo' });
      expect((await ask(ASKED, { tools: [] })).text).toContain('image/png with 6 bytes');
    } finally {
      await service.stop();
    }
  });
});

describe('a request that the first route could never take', () => {
  let first: ScriptedProvider;
  let second: ScriptedProvider;
  let service: RunningService;
  let chat: ChatService;

  beforeAll(async () => {
    first = await ScriptedProvider.start(ollama);
    second = await ScriptedProvider.start(openAi);
    service = await startService(routesTo([first, second]));
    chat = service.app.get(ChatService, { strict: false });
  });
  afterAll(async () => {
    await service.stop();
    await Promise.all([first.stop(), second.stop()]);
  });

  it.each([
    ['a required call', { messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS, tool_choice: 'required' }],
    [
      'the URL of an image',
      {
        messages: [
          { role: 'user', content: [{ type: 'image', url: 'https://example.com/a.png', mediaType: 'image/png' }] },
        ],
      },
    ],
  ] as [string, Omit<ConversationRequest, 'model'>][])('goes to the next route: %s', async (_, members) => {
    second.next(answering('Hello'));
    const asked = [first.calls.length, second.calls.length];
    expect(await chat.complete({ model: 'acme/fast', ...members }, caller())).toMatchObject({ text: 'Hello' });
    expect([first.calls.length - (asked[0] ?? 0), second.calls.length - (asked[1] ?? 0)]).toEqual([0, 1]);
  });

  it('gets the failure of the route that can take it', async () => {
    second.next(refusing(503));
    const request: ConversationRequest = {
      ...{ model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS, tool_choice: 'required' },
    };
    await expect(chat.complete(request, caller())).rejects.toMatchObject({ code: 'upstream_unavailable' });
  });
});

it('a request that no route could ever take gets an error that names the member and the model', async () => {
  const provider = await ScriptedProvider.start(ollama);
  const service = await startService(routesTo([provider]));
  onTestFinished(async () => {
    await service.stop();
    await provider.stop();
  });
  const chat = service.app.get(ChatService, { strict: false });
  const request: ConversationRequest = {
    ...{ model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }], tools: TOOLS, tool_choice: 'required' },
  };
  await expect(chat.complete(request, caller())).rejects.toMatchObject({
    code: 'invalid_request',
    details: [{ field: 'tool_choice', message: expect.stringContaining('the model acme/fast') as string }],
  });
  expect(provider.calls).toHaveLength(0);
});
