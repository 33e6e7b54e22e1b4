import { describe, expect, it } from 'vitest';
import { textView, withTexts } from '../../../../src/chat/hooks/text-view.js';
import type { ChatRequest } from '../../../../src/chat/request/chat-request.dto.js';
import type { ConversationRequest } from '../../../../src/upstreams/contract/conversation.js';

const IMAGE = { type: 'image', url: 'https://example.com/a.png' } as const;
const REQUEST: ConversationRequest = {
  model: 'acme/fast',
  messages: [
    { role: 'system', content: [{ type: 'text', text: 's1', cache: {} }] },
    { role: 'user', content: [{ type: 'text', text: 'u1' }, IMAGE, { type: 'text', text: 'u2' }] },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'r1', signature: 'sig' },
        { type: 'reasoning', text: '', encrypted: 'enc' },
        { type: 'text', text: 'a1' },
        { type: 'tool_call', id: '1', name: 'weather', json: '{"c":"j1"}' },
      ],
    },
    {
      role: 'tool',
      content: [
        { toolCallId: '1', content: 't1' },
        { toolCallId: '2', content: [IMAGE, { type: 'text', text: 't2' }] },
        { toolCallId: '3', content: '' },
      ],
    },
    { role: 'user', content: 'u3' },
  ],
  tools: [{ name: 'weather', parameters: {} }],
  temperature: 1,
};

function changed(change: (content: string) => string): ConversationRequest | undefined {
  const view = textView(REQUEST);
  const messages = view.messages.map(({ role, content }) => ({ role, content: change(content) }));
  return withTexts(REQUEST, Object.assign({}, view, { messages }));
}

describe('a conversation, for a hook that knows texts only', () => {
  it('has a message for each text', () => {
    const view = textView(REQUEST);
    expect(view.messages.map(({ role, content }) => `${role}: ${content}`)).toEqual([
      ...['system: s1', 'user: u1', 'user: u2', 'assistant: r1', 'assistant: a1', 'assistant: {"c":"j1"}'],
      ...['user: t1', 'user: t2', 'user: u3'],
    ]);
    expect(view).toEqual({ model: 'acme/fast', temperature: 1, messages: view.messages });
  });

  it('gets the changes of the hook at the same positions', () => {
    expect(changed((content) => content)).toEqual(REQUEST);
    const redacted = changed((content) => content.replace(/(\w)\d/, '$1*'));
    expect(redacted?.messages).toEqual([
      { role: 'system', content: [{ type: 'text', text: 's*', cache: {} }] },
      { role: 'user', content: [{ type: 'text', text: 'u*' }, IMAGE, { type: 'text', text: 'u*' }] },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'r*' },
          { type: 'reasoning', text: '', encrypted: 'enc' },
          { type: 'text', text: 'a*' },
          { type: 'tool_call', id: '1', name: 'weather', json: '{"c":"j*"}' },
        ],
      },
      {
        role: 'tool',
        content: [
          { toolCallId: '1', content: 't*' },
          { toolCallId: '2', content: [IMAGE, { type: 'text', text: 't*' }] },
          { toolCallId: '3', content: '' },
        ],
      },
      { role: 'user', content: 'u*' },
    ]);
    expect(redacted?.tools).toBe(REQUEST.tools);
  });

  it('gets system messages in front, another model and other options', () => {
    const view = textView(REQUEST);
    const front = { role: 'system', content: 'first' } as const;
    const result = withTexts(
      REQUEST,
      Object.assign({}, view, { model: 'acme/other', max_tokens: 7, messages: [front, ...view.messages] }),
    );
    expect(result).toEqual({
      ...REQUEST,
      model: 'acme/other',
      max_tokens: 7,
      messages: [front, ...REQUEST.messages],
    });
  });

  it.each<[string, (messages: ChatRequest['messages']) => ChatRequest['messages']]>([
    ['leaves out a message', (messages) => messages.slice(1)],
    ['appends a message', (messages) => [...messages, { role: 'user', content: 'more' }]],
    ['puts a user message in front', (messages) => [{ role: 'user', content: 'more' }, ...messages]],
    ['changes a role', (messages) => messages.map(({ content }) => ({ role: 'system', content }))],
  ])('fits to no change that %s', (_, change) => {
    const view = textView(REQUEST);
    expect(withTexts(REQUEST, Object.assign({}, view, { messages: change(view.messages) }))).toBeUndefined();
  });
});
