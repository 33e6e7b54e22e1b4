import { describe, expect, it } from 'vitest';
import { OllamaProtocol } from '../../../src/upstreams/protocols/ollama/ollama.js';
import { TEST_CALL, TEST_UPSTREAM } from '../../../src/testing/protocols/samples.js';
import type { ChatCall } from '../../../src/upstreams/contract/protocol.js';
import { CLOCK, conversation, PIXEL, REMOTE_IMAGE, SCHEMA, WEATHER, withCountedIds } from './conversation.js';

const protocol = new OllamaProtocol();
const TOOLS = [WEATHER, CLOCK];

const bodyOf = (call: Partial<ChatCall>) =>
  JSON.parse(
    protocol.request({ ...TEST_CALL, options: {}, ...call }, { ...TEST_UPSTREAM, options: {} }).body,
  ) as Record<string, unknown>;

describe('the request of the protocol ollama', () => {
  it('contains a conversation with images, reasoning, tool calls and results', () => {
    expect(bodyOf({ messages: conversation('ollama') })['messages']).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is this?', images: [PIXEL] },
      {
        role: 'assistant',
        content: 'I look.',
        thinking: 'Hm.Of another provider.',
        tool_calls: [
          { function: { name: 'weather', arguments: { city: 'Paris' } } },
          { function: { name: 'clock', arguments: {} } },
        ],
      },
      { role: 'tool', tool_name: 'weather', content: 'Sunny' },
      { role: 'tool', tool_name: 'clock', content: 'No clock', images: [PIXEL] },
      { role: 'user', content: 'And now?' },
    ]);
  });

  it('refuses an image that the provider would have to fetch', () => {
    expect(() => bodyOf({ messages: [{ role: 'user', content: [REMOTE_IMAGE] }] })).toThrow(
      expect.objectContaining({ code: 'invalid_request' }),
    );
  });

  it('has the tools, unless no call is wanted', () => {
    expect(bodyOf({ tools: [WEATHER], toolChoice: 'auto' })['tools']).toEqual([
      { type: 'function', function: { name: 'weather', description: 'The weather.', parameters: SCHEMA } },
    ]);
    expect(bodyOf({ tools: TOOLS, toolChoice: 'none' })).not.toHaveProperty('tools');
  });

  it.each(['required', { tool: 'clock' }] as const)('refuses the tool choice %j', (toolChoice) => {
    expect(() => bodyOf({ tools: TOOLS, toolChoice })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        details: [{ field: 'tool_choice', message: expect.any(String) as string }],
      }),
    );
  });

  it.each([
    [{ type: 'text' }, undefined],
    [{ type: 'json' }, 'json'],
    [{ type: 'json_schema', name: 'place', schema: SCHEMA }, SCHEMA],
  ] as const)('has the response format %j', (responseFormat, format) => {
    expect(bodyOf({ responseFormat })['format']).toEqual(format);
  });

  it.each([
    [{ effort: 'none' }, false, false],
    [{ effort: 'minimal' }, true, 'low'],
    [{ effort: 'medium' }, true, 'medium'],
    [{ effort: 'xhigh' }, true, 'high'],
    [{ budget_tokens: 100 }, true, 'low'],
    [{ include_text: true }, undefined, undefined],
  ] as const)('reasons with %j as %j, and as %j if the model takes levels', (reasoning, think, level) => {
    expect(bodyOf({ reasoning })['think']).toEqual(think);
    expect(bodyOf({ reasoning, modelThinking: 'levels' })['think']).toEqual(level);
  });

  it('has one system message, at the beginning', () => {
    const messages = [
      { role: 'system', content: 'a' },
      { role: 'system', content: 'b' },
      { role: 'user', content: 'Hi' },
      { role: 'system', content: 'c' },
    ] as const;
    expect(bodyOf({ messages })['messages']).toEqual([
      { role: 'system', content: 'a\n\nb' },
      { role: 'user', content: 'Hi\n\n[System message]\nc' },
    ]);
  });
});

describe('an answer of the protocol ollama', () => {
  it('has reasoning, text and calls with made ids', () => {
    const message = {
      thinking: 'Hm.',
      content: 'I look.',
      tool_calls: [
        { function: { name: 'weather', arguments: { city: 'Paris' } } },
        { function: { name: 'clock' } },
        { function: { name: 'clock', arguments: '{"zone":1}' } },
        {},
      ],
    };
    const parts = protocol.open().parts({ event: 'message', data: JSON.stringify({ message, done: false }) });
    expect(withCountedIds(parts)).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'I look.' },
      { type: 'tool_call_start', id: '#0', name: 'weather', index: 0 },
      { type: 'tool_call_delta', id: '#0', json: '{"city":"Paris"}' },
      { type: 'tool_call_end', id: '#0' },
      { type: 'tool_call_start', id: '#1', name: 'clock', index: 0 },
      { type: 'tool_call_end', id: '#1' },
      { type: 'tool_call_start', id: '#2', name: 'clock', index: 0 },
      { type: 'tool_call_delta', id: '#2', json: '{"zone":1}' },
      { type: 'tool_call_end', id: '#2' },
    ]);
  });
});
