import type { AssistantMessage, Message, ReasoningContent, ToolCallContent } from '../contract/conversation.js';

/**
 * Signatures and encrypted reasoning are valid only for the kind of provider that has made them. They leave the service as
 * `<protocol>:<state>`, and come back only to the same protocol. So a model can be asked over another protocol in the next turn.
 */
export function markedState(protocol: string, state: string): string {
  return `${protocol}:${state}`;
}

/**
 * Returns the messages with the state of this protocol as the protocol has made it, and without the state of others. Messages
 * without any state stay as they are.
 */
export function withOwnState(messages: readonly Message[], protocol: string): readonly Message[] {
  return messages.some(hasState) ? messages.map((message) => withOwn(message, protocol)) : messages;
}

type Part = Exclude<AssistantMessage['content'], string>[number];
type Stateful = ReasoningContent | ToolCallContent;

function isStateful(part: Part): part is Stateful {
  return (
    part.type !== 'text' && (part.signature !== undefined || ('encrypted' in part && part.encrypted !== undefined))
  );
}

function hasState(message: Message): boolean {
  return message.role === 'assistant' && typeof message.content !== 'string' && message.content.some(isStateful);
}

function withOwn(message: Message, protocol: string): Message {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const own = (state: string | undefined) => ownState(protocol, state);
  const content: Part[] = [];
  for (const part of message.content) {
    if (part.type === 'text') content.push(part);
    else if (part.type === 'tool_call') content.push({ ...part, signature: own(part.signature) });
    else {
      const reasoning = { ...part, signature: own(part.signature), encrypted: own(part.encrypted) };
      const isEmpty = reasoning.text === '' && reasoning.signature === undefined && reasoning.encrypted === undefined;
      if (!isEmpty) content.push(reasoning);
    }
  }
  return { role: 'assistant', content };
}

function ownState(protocol: string, state: string | undefined): string | undefined {
  const mark = markedState(protocol, '');
  return state?.startsWith(mark) === true ? state.slice(mark.length) : undefined;
}
