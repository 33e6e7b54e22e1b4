import type { ConversationRequest } from '../../../upstreams/contract/conversation.js';
import { MAX_MESSAGES, MAX_STOPS, type ChatRequest } from '../chat-request.dto.js';

/** The members of a conversation that a request of plain texts does not have. */
const MEMBERS = ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'reasoning', 'user'] as const;

type ConversationMember = (typeof MEMBERS)[number];

/** Returns a copy of a request without the members that a request of plain texts does not have. */
export function textMembers(request: ConversationRequest): Omit<ConversationRequest, ConversationMember> {
  const members = Object.entries(request).filter(([name]) => !MEMBERS.some((member) => member === name));
  return Object.fromEntries(members) as unknown as Omit<ConversationRequest, ConversationMember>;
}

/** Returns the members of a request that a request of plain texts does not have. */
export function conversationMembers(request: ConversationRequest): Pick<ConversationRequest, ConversationMember> {
  return Object.fromEntries(MEMBERS.map((member) => [member, request[member]]));
}

/** Whether a request is one of `POST /chat/stream`: each content is a text, and no other member is there. */
export function isPlainRequest(request: ConversationRequest): request is ConversationRequest & ChatRequest {
  return hasPlainMessages(request) && isShort(request) && MEMBERS.every((member) => request[member] === undefined);
}

/** Whether the request is within the bounds of `POST /chat/stream`, which are lower than those of conversations. */
function isShort({ messages, stop }: ConversationRequest): boolean {
  const [given, stops]: readonly unknown[] = [messages, stop];
  const isFew = (list: unknown, most: number): boolean => !Array.isArray(list) || list.length <= most;
  return isFew(given, MAX_MESSAGES) && isFew(stops, MAX_STOPS);
}

/** Whether each content is a text. A value that is no list of messages counts as plain, for the rules that refuse it. */
function hasPlainMessages({ messages }: Pick<ConversationRequest, 'messages'>): boolean {
  const given: unknown = messages;
  return !Array.isArray(given) || given.every((message: unknown) => !hasParts(message));
}

function hasParts(message: unknown): boolean {
  if (typeof message !== 'object' || message === null || !('content' in message)) return false;
  return typeof message.content === 'object' && message.content !== null;
}
