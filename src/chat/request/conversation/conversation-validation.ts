import { Injectable } from '@nestjs/common';
import { ownTurn } from '../../../platform/common/event-loop/event-loop-turns.js';
import { invalidRequest, refuseAny } from '../../../platform/http/request/invalid-request.js';
import { RequestValidationPipe } from '../../../platform/http/request/request-validation.pipe.js';
import type { ConversationRequest } from '../../../upstreams/contract/conversation.js';
import { ChatRequest } from '../chat-request.dto.js';
import { conversationProblems } from './conversation-rules.js';
import { ConversationMembers } from './conversation-schema.js';
import { conversationMembers, isPlainRequest, textMembers } from './plain-request.js';
import { schemaProblems } from './schema-problems.js';

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
