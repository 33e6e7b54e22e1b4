import type {
  ConversationRequest,
  ReasoningOptions,
  ResponseFormat,
  ToolChoice,
} from '../../../../plugin-api/core/upstreams.js';
import type { CompatibleRequest } from '../../shared/compatible-answers.js';
import type { MappedMessage } from '../../shared/body-fields.js';
import { toolOf } from './blocks-to-contents.js';
import { conversationMessages } from './conversation-messages.js';
import type { CountTokensBody, MessagesBody } from './messages-body.js';
import { visibleTools } from './offered-tools.js';

/** Means that the member is not set: `@langchain/anthropic` before 1.0 sends it in each request. */
const UNSET = -1;

/** Providers want a name for a schema, and Anthropic has none. */
const SCHEMA_NAME = 'answer';

/** The conversation of a body. */
export interface MappedRequest {
  readonly conversation: ConversationRequest;
  /** Where the messages of the conversation stand in the body. */
  readonly mapped: readonly MappedMessage[];
}

/** How a response shows thinking. `omitted`: only the proofs that the next turn sends back. `none`: not at all. */
export type ShownThinking = 'shown' | 'omitted' | 'none';

/** A body of `POST messages`. */
export interface MessagesRequest extends MappedRequest, CompatibleRequest {
  readonly thinking: ShownThinking;
}

export function messagesRequest(body: MessagesBody): MessagesRequest {
  const { model, max_tokens, temperature, top_p, stop_sequences: stop, tool_choice, thinking } = body;
  const mapped = conversationMessages(body.system, body.messages);
  const chosen = tool_choice?.type === 'tool' ? tool_choice : undefined;
  const format = body.output_config?.format ?? body.output_format;
  const reasoning = reasoningOptions(body);
  const user = body.metadata?.user_id;
  const tools = visibleTools(body, chosen?.name).map(toolOf);
  const isOneCall = tool_choice && 'disable_parallel_tool_use' in tool_choice && tool_choice.disable_parallel_tool_use;
  return {
    conversation: {
      model,
      messages: mapped.map(({ message }) => message),
      max_tokens,
      ...(typeof temperature === 'number' && { temperature }),
      ...(typeof top_p === 'number' && top_p !== UNSET && { top_p }),
      ...(stop && stop.length > 0 && { stop }),
      ...(tools.length > 0 && { tools }),
      ...(tool_choice && { tool_choice: toolChoice(tool_choice) }),
      ...(isOneCall === true && { parallel_tool_calls: false }),
      ...(format && { response_format: responseFormat(format.schema) }),
      ...(reasoning !== undefined && { reasoning }),
      ...(user && { user }),
    },
    isStream: body.stream === true,
    thinking: shownThinking(thinking),
    mapped,
  };
}

/** Returns the members of a body of `POST messages/count_tokens` that count for the tokens of a prompt. */
export function countTokensRequest(body: CountTokensBody): MappedRequest {
  const { model, system, messages } = body;
  const tools = visibleTools(body).map(toolOf);
  const mapped = conversationMessages(system, messages);
  return {
    conversation: {
      model,
      messages: mapped.map(({ message }) => message),
      ...(tools.length > 0 && { tools }),
    },
    mapped,
  };
}

function toolChoice(choice: NonNullable<MessagesBody['tool_choice']>): ToolChoice {
  switch (choice.type) {
    case 'auto':
    case 'none':
      return choice.type;
    case 'any':
      return 'required';
    case 'tool':
      return { tool: choice.name };
  }
}

function responseFormat(schema: Readonly<Record<string, unknown>>): ResponseFormat {
  return { type: 'json_schema', name: SCHEMA_NAME, schema, strict: true };
}

function reasoningOptions({ thinking, output_config, messages }: MessagesBody): ReasoningOptions | undefined {
  const sent = effortOfTurn(messages) ?? output_config?.effort;
  const effort = sent ? { effort: sent === 'max' ? ('xhigh' as const) : sent } : {};
  if (!thinking) return sent ? effort : undefined;
  switch (thinking.type) {
    case 'disabled':
      return { effort: 'none' };
    case 'enabled':
      return { ...effort, budget_tokens: thinking.budget_tokens, include_text: thinking.display !== 'omitted' };
    case 'adaptive':
      return { ...effort, include_text: thinking.display !== 'omitted' };
    case 'between_tools':
      return { ...effort, include_text: true };
  }
}

/** A system message can set the effort of its turn: of the answer that follows, and not of later answers. */
function effortOfTurn(messages: MessagesBody['messages']): NonNullable<MessagesBody['output_config']>['effort'] {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
  return turn
    .map((message) => (message.role === 'system' ? message.output_config?.effort : undefined))
    .findLast(Boolean);
}

function shownThinking(thinking: MessagesBody['thinking']): ShownThinking {
  if (!thinking || thinking.type === 'disabled') return 'none';
  return 'display' in thinking && thinking.display === 'omitted' ? 'omitted' : 'shown';
}
