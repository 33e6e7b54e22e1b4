import type { AssistantMessage, Message, ReasoningContent, ToolCallContent } from '../contract/conversation.js';

/** Who makes signatures and encrypted reasoning, and reads them in the next turn. */
export interface StateOwner {
  /** The name of the protocol. */
  readonly protocol: string;
  /** The name of the upstream. */
  readonly upstream: string;
  /** See {@link HttpProtocol.isBoundToUpstream}. By default, no state is bound to the upstream. */
  readonly isBound?: ((state: string) => boolean) | undefined;
  /** Whether the owner also reads bound state without the name of its upstream: a client that has it from elsewhere knows no upstream. */
  readonly readsUnnamed?: boolean;
}

const NOBODY: StateOwner = { protocol: '', upstream: '' };

const NAMED = /^[^:@]+@([\w.-]+):/;

/**
 * Signatures and encrypted reasoning are valid only for the kind of provider that has made them, and some only for the upstream. They
 * leave the service as `<protocol>:<state>` or `<protocol>@<upstream>:<state>`, and come back only to the same owner. So a model
 * can be asked over another route in the next turn.
 */
export function markedState({ protocol, upstream, isBound }: StateOwner, state: string): string {
  return `${protocol}${isBound?.(state) === true ? `@${upstream}` : ''}:${state}`;
}

/**
 * Returns the messages with the state of this owner as the owner has made it, and without the state of others. Messages
 * without any state stay as they are.
 */
export function withOwnState(messages: readonly Message[], owner: StateOwner): readonly Message[] {
  return messages.some(hasState) ? messages.map((message) => withOwn(message, owner)) : messages;
}

/** Returns the messages without any state. */
export function withoutState(messages: readonly Message[]): readonly Message[] {
  return withOwnState(messages, NOBODY);
}

/** Returns the name of the upstream that has made the last state of a conversation, if the state is bound to it. */
export function upstreamOfState(messages: readonly Message[]): string | undefined {
  const last = messages.findLast(hasState);
  if (last?.role !== 'assistant' || typeof last.content === 'string') return undefined;
  const states = last.content
    .filter(isStateful)
    .map((part) => ('encrypted' in part && part.encrypted) || part.signature);
  return states.map((state = '') => NAMED.exec(state)?.[1]).findLast((name) => name !== undefined);
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

function withOwn(message: Message, owner: StateOwner): Message {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const own = (state: string | undefined) => ownState(owner, state);
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

function ownState(owner: StateOwner, marked: string | undefined): string | undefined {
  const { protocol, upstream, isBound, readsUnnamed = false } = owner;
  const named = `${protocol}@${upstream}:`;
  if (marked?.startsWith(named) === true) return marked.slice(named.length);
  if (marked?.startsWith(`${protocol}:`) !== true) return undefined;
  const state = marked.slice(protocol.length + 1);
  return readsUnnamed || isBound?.(state) !== true ? state : undefined;
}
