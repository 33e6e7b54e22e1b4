import { Injectable } from '@nestjs/common';
import { ownTurn } from '../../../platform/common/event-loop/event-loop-turns.js';
import {
  invalidRequest,
  refuseAny,
  RequestValidationPipe,
} from '../../../platform/http/request/request-validation.pipe.js';
import { imagesOf, type ConversationRequest } from '../../../upstreams/contract/conversation.js';
import { ChatRequest, MAX_MESSAGES, MAX_STOPS } from '../chat-request.dto.js';
import { ConversationMembers } from './conversation-schema.js';
import { schemaProblems } from './schema-problems.js';
import type { ErrorDetail } from '../../../platform/common/service-error.js';

/** Stands for the messages while the other members are checked by the rules of `POST /chat/stream`. */
const PLACEHOLDER = [{ role: 'user', content: '-' }];
/** The checks of more messages and contents are separate turns of the event loop. */
const MANY = 1_000;

/**
 * Validates requests that a plugin has built. A request of plain texts follows the rules of `POST /chat/stream`. For other
 * requests, the options follow these rules, and the rest follows the rules of conversations.
 */
@Injectable()
export class ConversationValidation {
  constructor(private readonly validation: RequestValidationPipe) {}

  /**
   * Returns a copy of the request. Texts and schemas are not copied.
   *
   * @throws {ServiceError} `invalid_request` with the invalid members.
   */
  async validated(request: ConversationRequest): Promise<ConversationRequest> {
    const { messages } = request;
    const isLong = isLongConversation(messages);
    if (isLong) await ownTurn();
    if (isPlainRequest(request)) return this.validation.validated(textMembers(request), ChatRequest);
    const { stop, ...options } = textMembers(request);
    const base: ConversationRequest = await this.validation.validated(
      { ...options, messages: PLACEHOLDER },
      ChatRequest,
    );
    const members = { messages, stop, ...conversationMembers(request) };
    const result = ConversationMembers.safeParse(members);
    if (!result.success) throw invalidRequest(schemaProblems(result.error.issues));
    if (isLong) await ownTurn();
    refuseAny(conversationProblems(result.data));
    if (isLong) await ownTurn();
    return { ...base, ...result.data, tools: result.data.tools?.length === 0 ? undefined : result.data.tools };
  }
}

/** A plugin may have built a request whose messages are no list. */
function isLongConversation(messages: unknown): boolean {
  if (!Array.isArray(messages)) return false;
  const given = messages as readonly ({ readonly content?: unknown } | null)[];
  const contents = given.reduce((sum, one) => sum + (Array.isArray(one?.content) ? one.content.length : 1), 0);
  return contents > MANY;
}

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

const MAX_IMAGES = 100;

/** Yields what is wrong between the members of a conversation: names and ids that do not fit together, and too many images. */
function* conversationProblems(request: ConversationMembers): Generator<ErrorDetail, void> {
  yield* toolProblems(request);
  yield* callProblems(request.messages);
  const images = request.messages.reduce((count, message) => count + [...imagesOf(message)].length, 0);
  if (images > MAX_IMAGES) yield { field: 'messages', message: `must contain at most ${MAX_IMAGES} images` };
}

function* toolProblems({ tools = [], tool_choice: choice }: ConversationMembers): Generator<ErrorDetail, void> {
  const names = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name)) yield { field: `tools.${index}.name`, message: 'must not be the name of another tool' };
    names.add(name);
  }
  if (typeof choice === 'object' && !names.has(choice.tool)) {
    yield { field: 'tool_choice.tool', message: 'must be the name of a tool of this request' };
  }
  if (choice === 'required' && tools.length === 0) {
    yield { field: 'tool_choice', message: 'must not be required without tools' };
  }
}

/** Checks that each result refers to an earlier call, and that each call has at most one result. */
function* callProblems(messages: ConversationMembers['messages']): Generator<ErrorDetail, void> {
  /** The calls that have no result so far. */
  const open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (typeof message.content === 'string') continue;
    const ofMessage = new Set<string>();
    for (const [index, part] of message.content.entries()) {
      const problem = (member: string, text: string) => ({
        field: `messages.${at}.content.${index}.${member}`,
        message: text,
      });
      if ('toolCallId' in part) {
        if (open.delete(part.toolCallId)) continue;
        yield problem('toolCallId', 'must be the id of an earlier tool call without a result');
      } else if (part.type === 'tool_call') {
        if (ofMessage.has(part.id)) yield problem('id', 'must not be the id of another tool call');
        ofMessage.add(part.id);
        open.add(part.id);
      }
    }
  }
}
