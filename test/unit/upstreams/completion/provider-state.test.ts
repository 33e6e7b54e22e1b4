import { describe, expect, it } from 'vitest';
import { CallTrace } from '../../../../src/upstreams/completion/call-trace.js';
import { PartCollector } from '../../../../src/upstreams/completion/part-collector.js';
import { withOwnState } from '../../../../src/upstreams/completion/provider-state.js';
import type { Message } from '../../../../src/upstreams/contract/conversation.js';

describe('the opaque state of a provider', () => {
  it('leaves with the name of its protocol', () => {
    const collector = new PartCollector(new CallTrace('request-1'), true, true, { protocol: 'acme', upstream: 'a' });
    collector.add({ type: 'reasoning', text: '', signature: 's', encrypted: 'e' });
    collector.add({ type: 'tool_call_start', id: '1', name: 'f', index: 0, signature: 's' });
    expect([collector.take(), collector.take()]).toEqual([
      { type: 'reasoning', text: '', signature: 'acme:s', encrypted: 'acme:e' },
      { type: 'tool_call_start', id: '1', name: 'f', index: 0, signature: 'acme:s' },
    ]);
  });

  it('comes back to its protocol only', () => {
    const messages: readonly Message[] = [
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'a', signature: 'acme:s:1' },
          { type: 'reasoning', text: 'b', signature: 'other:s' },
          { type: 'reasoning', text: '', encrypted: 'other:e' },
          { type: 'text', text: 'yes' },
          { type: 'tool_call', id: '1', name: 'f', json: '{}', signature: 'acme:t' },
          { type: 'tool_call', id: '2', name: 'f', json: '{}', signature: 'unmarked' },
        ],
      },
    ];
    expect(withOwnState(messages, { protocol: 'acme', upstream: 'a' })).toEqual([
      { role: 'user', content: 'Hi' },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'a', signature: 's:1' },
          { type: 'reasoning', text: 'b' },
          { type: 'text', text: 'yes' },
          { type: 'tool_call', id: '1', name: 'f', json: '{}', signature: 't' },
          { type: 'tool_call', id: '2', name: 'f', json: '{}' },
        ],
      },
    ]);
  });

  it('costs nothing where there is none', () => {
    const messages: readonly Message[] = [{ role: 'assistant', content: [{ type: 'text', text: 'yes' }] }];
    expect(withOwnState(messages, { protocol: 'acme', upstream: 'a' })).toBe(messages);
  });
});
