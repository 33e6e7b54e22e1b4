import { generationOptionsOf } from '../../../plugin-api/core/config.js';
import type { BodyParser } from '../../../plugin-api/core/http.js';
import type { ToolChoice } from '../../../plugin-api/core/upstreams.js';
import type { BodyPlace } from '../shared/body-fields.js';
import { checkedBody, ignoredPaths } from '../shared/checked-body.js';
import { effortOf, has } from '../shared/common-members.js';
import type { CompatibleRequest } from '../shared/compatible-answers.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../shared/surface-options.js';
import { ChatCompletionsBody } from './chat-completions-body.js';
import { mappedMessages } from './messages.js';
import { responseFormatOf, toolChoiceOf, toolsOf } from './tools.js';

/** A valid request of `POST /chat/completions`. */
export interface ChatCompletionsRequest extends CompatibleRequest {
  /** Whether a stream ends with the token counts. */
  readonly includesUsage: boolean;
  /** Whether `max_completion_tokens` limits the answer, and not the older `max_tokens`. */
  readonly hasNewerLimit: boolean;
  /** The places of the messages in the body. */
  readonly places: readonly BodyPlace[];
  /** The names of the tools of type `custom`. */
  readonly customTools: readonly string[];
}

/** Converts the bodies of `POST /chat/completions`. */
export const CHAT_COMPLETIONS_BODY: BodyParser<ChatCompletionsRequest> = {
  maxBytes: MAX_COMPATIBLE_BODY_BYTES,
  parse(sent, ignore) {
    const hasNewerLimit = has(sent, 'max_completion_tokens');
    // The older limit has no effect then, and may be anything.
    const body = checkedBody(ChatCompletionsBody, hasNewerLimit ? { ...sent, max_tokens: undefined } : sent);
    const { tools: given, customTools } = toolsOf(body.tools ?? [], ignore);
    const mapped = mappedMessages(body.messages);
    // A name tells participants with the same role apart.
    if (body.messages.some((message) => has(message, 'name'))) ignore('messages.name');
    const { choice, offered: tools } = toolChoiceOf(body, given);
    const effort = effortOf(body.reasoning_effort);
    const request: ChatCompletionsRequest = {
      conversation: {
        model: body.model,
        messages: mapped.map(({ message }) => message),
        ...generationOptionsOf(body),
        stop: stopOf(body),
        max_tokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
        response_format: responseFormatOf(body),
        ...(effort !== undefined && { reasoning: { effort } }),
        ...(tools.length > 0 && { tools, parallel_tool_calls: body.parallel_tool_calls ?? undefined }),
        // Without tools, `auto` and `none` say nothing.
        ...((tools.length > 0 || isCallDemanded(choice)) && { tool_choice: choice }),
      },
      isStream: body.stream ?? false,
      includesUsage: body.stream_options?.include_usage ?? false,
      hasNewerLimit,
      places: mapped,
      customTools,
    };
    for (const path of ignoredPaths(sent, body)) ignore(path);
    return request;
  },
};

function isCallDemanded(choice: ToolChoice | undefined): boolean {
  return choice === 'required' || typeof choice === 'object';
}

function stopOf({ stop }: ChatCompletionsBody): readonly string[] | undefined {
  const texts = [stop ?? []].flat();
  return texts.length === 0 ? undefined : texts;
}
