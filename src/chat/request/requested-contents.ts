import type { ConversationRequest } from '../../upstreams/contract/conversation.js';
import type { CompletionRequest } from '../../upstreams/routing/routed-completion.js';
import { requestedOptions } from './requested-options.js';

type Contents = Omit<CompletionRequest, 'accountId' | 'maxTokens' | 'readsReasoning' | 'readsToolCalls'>;

/** Returns what a request brings to its provider, with the names of a call, and with the default of the temperature. */
export function requestedContents(request: ConversationRequest): Contents {
  return {
    messages: request.messages,
    options: requestedOptions(request),
    tools: request.tools,
    toolChoice: request.tool_choice,
    parallelToolCalls: request.parallel_tool_calls,
    responseFormat: request.response_format,
    reasoning: request.reasoning,
    user: request.user,
  };
}
