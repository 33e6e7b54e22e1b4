import { Injectable } from '@nestjs/common';
import { invalidRequest, refuseAny } from '../../../http/request/invalid-request.js';
import { RequestValidationPipe } from '../../../http/request/request-validation.pipe.js';
import type { ConversationRequest } from '../../../upstreams/contract/conversation.js';
import { ChatRequest } from '../chat-request.dto.js';
import { conversationProblems } from './conversation-rules.js';
import { ConversationMembers } from './conversation-schema.js';
import { conversationMembers, isPlainRequest, textMembers } from './plain-request.js';
import { schemaProblems } from './schema-problems.js';

/** Stands for the messages while the other members are checked by the rules of `POST /chat/stream`. */
const PLACEHOLDER = [{ role: 'user', content: '-' }];

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
    const options = textMembers(request);
    if (isPlainRequest(request)) return this.validation.validated(options, ChatRequest);
    const base: ConversationRequest = await this.validation.validated(
      { ...options, messages: PLACEHOLDER },
      ChatRequest,
    );
    const members = { messages, ...conversationMembers(request) };
    const result = ConversationMembers.safeParse(members);
    if (!result.success) throw invalidRequest(schemaProblems(result.error.issues));
    refuseAny(conversationProblems(result.data));
    return { ...base, ...result.data, tools: result.data.tools?.length === 0 ? undefined : result.data.tools };
  }
}
