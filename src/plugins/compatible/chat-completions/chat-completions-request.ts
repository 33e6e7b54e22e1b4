import type { BodyParser } from '../../../plugin-api/core/http.js';
import type { ToolChoice } from '../../../plugin-api/core/upstreams.js';
import type { CompatibleRequest } from '../shared/compatible-answers.js';
import { effortOf, type BodyPlace } from '../shared/body-fields.js';
import { is, isObject, Members, type Refusals } from '../shared/members.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../shared/surface-options.js';
import { mappedMessages } from './messages.js';
import { responseFormatOf, toolChoiceOf, toolsOf } from './tools.js';

export const MAX_MESSAGES = 10_000;

const WHOLE_CONVERSATION = 'is not supported, because the service stores no conversations: send all messages';

/** Members that would change the meaning of the answer, and cannot be honoured. */
const REFUSED: Refusals = {
  n: { unless: is(1), message: 'must be 1: the service generates one answer for each request' },
  logprobs: { unless: is(false) },
  top_logprobs: { unless: is(0) },
  logit_bias: { unless: (value) => isObject(value) && Object.keys(value).length === 0 },
  audio: {},
  modalities: { unless: (value) => Array.isArray(value) && value.every(is('text')), message: 'must be ["text"]' },
  web_search_options: {},
  // Older clients send an empty list, and a choice among no functions.
  functions: { unless: (value) => Array.isArray(value) && value.length === 0, message: 'is not supported: send tools' },
  function_call: {
    unless: (value) => value === 'none' || value === 'auto',
    message: 'is not supported: send tool_choice',
  },
  previous_response_id: { message: WHOLE_CONVERSATION },
  conversation: { message: WHOLE_CONVERSATION },
};

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
  parse(object, ignore) {
    const body = new Members(object);
    body.refuseUnsupported(REFUSED);
    const messages = body.required('messages', body.array('messages'));
    if (messages.length === 0) throw body.refused('messages', 'must not be empty');
    if (messages.length > MAX_MESSAGES) throw body.refused('messages', `must have at most ${MAX_MESSAGES} items`);
    const { tools: given, customTools } = toolsOf(body.array('tools') ?? [], ignore);
    const effort = effortOf(body, 'reasoning_effort');
    const mapped = mappedMessages(messages, ignore);
    const { choice, offered: tools } = toolChoiceOf(body, given);
    const newerLimit = body.number('max_completion_tokens');
    const isParallel = body.boolean('parallel_tool_calls');
    const request: ChatCompletionsRequest = {
      conversation: {
        model: body.requiredText('model'),
        messages: mapped.map(({ message }) => message),
        temperature: body.number('temperature'),
        top_p: body.number('top_p'),
        seed: body.number('seed'),
        frequency_penalty: body.number('frequency_penalty'),
        presence_penalty: body.number('presence_penalty'),
        stop: stopOf(body),
        max_tokens: newerLimit ?? body.number('max_tokens'),
        response_format: responseFormatOf(body),
        ...(effort !== undefined && { reasoning: { effort } }),
        ...(tools.length > 0 && { tools, parallel_tool_calls: isParallel }),
        // Without tools, `auto` and `none` say nothing.
        ...((tools.length > 0 || isCallDemanded(choice)) && { tool_choice: choice }),
      },
      isStream: body.boolean('stream') ?? false,
      includesUsage: body.inner('stream_options')?.boolean('include_usage') ?? false,
      hasNewerLimit: newerLimit !== undefined,
      places: mapped,
      customTools,
    };
    for (const name of body.rest()) ignore(name);
    return request;
  },
};

function isCallDemanded(choice: ToolChoice | undefined): boolean {
  return choice === 'required' || typeof choice === 'object';
}

function stopOf(body: Members): readonly string[] | undefined {
  const stop = body.any('stop');
  if (stop === undefined) return undefined;
  const texts = Array.isArray(stop) ? (stop as readonly unknown[]) : [stop];
  if (!texts.every((text) => typeof text === 'string')) throw body.refused('stop', 'must be a string or strings');
  return texts.length === 0 ? undefined : texts;
}
