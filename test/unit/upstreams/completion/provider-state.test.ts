import { expect, it } from 'vitest';
import { withOwnState } from '../../../../src/upstreams/completion/provider-state.js';
import type { Message } from '../../../../src/upstreams/contract/conversation.js';

it('the opaque state of a provider costs nothing where there is none', () => {
  const messages: readonly Message[] = [{ role: 'assistant', content: [{ type: 'text', text: 'yes' }] }];
  expect(withOwnState(messages, { protocol: 'acme', upstream: 'a' })).toBe(messages);
});
