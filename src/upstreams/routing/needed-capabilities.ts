import type { Capability } from '../../platform/config/capabilities.js';
import type { ImageContent, Message, TextContent } from '../contract/conversation.js';
import type { CompletionRequest } from './routed-completion.js';

/** A member of a request that needs a capability. `field` is its path, such as `messages.2.content.1`. */
export interface CapabilityNeed {
  readonly capability: Capability;
  readonly field: string;
}

export type CapabilityMembers = Pick<CompletionRequest, 'messages' | 'tools' | 'responseFormat' | 'reasoning'>;

/** Returns the members of a request that need a capability. A request with plain texts only needs none. */
export function neededCapabilities(request: CapabilityMembers): readonly CapabilityNeed[] {
  const { messages, tools, responseFormat, reasoning } = request;
  const needs: CapabilityNeed[] = [];
  if (tools !== undefined) needs.push({ capability: 'tools', field: 'tools' });
  if (responseFormat !== undefined && responseFormat.type !== 'text') {
    needs.push({ capability: 'structured_output', field: 'response_format' });
  }
  if ((reasoning?.effort ?? 'none') !== 'none' || reasoning?.budget_tokens !== undefined) {
    needs.push({ capability: 'reasoning', field: 'reasoning' });
  }
  for (const [index, message] of messages.entries()) {
    if (typeof message.content !== 'string') needs.push(...needsOf(message, `messages.${index}.content`));
  }
  return needs;
}

function needsOf(message: Message, field: string): readonly CapabilityNeed[] {
  if (typeof message.content === 'string') return [];
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return imagesOf(message.content, field);
    case 'assistant': {
      const call = message.content.findIndex(({ type }) => type === 'tool_call');
      return call === -1 ? [] : [{ capability: 'tools', field: `${field}.${call}` }];
    }
    case 'tool':
      return [
        { capability: 'tools', field },
        ...message.content.flatMap(({ content }, index) => imagesOf(content, `${field}.${index}.content`)),
      ];
  }
}

function imagesOf(content: string | readonly (TextContent | ImageContent)[], field: string): readonly CapabilityNeed[] {
  if (typeof content === 'string') return [];
  return content.flatMap(({ type }, index) =>
    type === 'image' ? [{ capability: 'images', field: `${field}.${index}` }] : [],
  );
}
