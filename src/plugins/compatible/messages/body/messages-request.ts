import type { z } from 'zod';
import { Steps } from '../../../../plugin-api/core/common.js';
import type {
  ConversationRequest,
  ReasoningOptions,
  ResponseFormat,
  ToolChoice,
} from '../../../../plugin-api/core/upstreams.js';
import type { BodyNames, MappedMessage } from '../../shared/error-formats.js';
import { checkedBody, ignoredPaths, type Ignore, type SentBody } from '../../shared/checked-body.js';
import type { CompatibleRequest } from '../../shared/compatible-answers.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../../shared/surface-options.js';
import { toolOf, conversationMessages } from './conversation-messages.js';
import { withConvertedBlocks } from './converted-blocks.js';
import { CountTokensBody, type ToolBody, MessagesBody } from './messages-body.js';

export const MESSAGES_NAMES: BodyNames = {
  members: [
    [/^(tools\.\d+)\.parameters/, '$1.input_schema'],
    [/^tool_choice\.tool$/, 'tool_choice.name'],
    [/^response_format\.schema/, 'output_config.format.schema'],
    [/^response_format/, 'output_config.format'],
    [/^reasoning\.effort$/, 'output_config.effort'],
    [/^reasoning/, 'thinking'],
    [/^stop/, 'stop_sequences'],
    [/^user$/, 'metadata.user_id'],
    [/^parallel_tool_calls$/, 'tool_choice.disable_parallel_tool_use'],
  ],
  partMembers: [
    [/\.toolCallId$/, '.tool_use_id'],
    [/\.(?:url|mediaType)$/, '.source'],
    [/\.json$/, '.input'],
  ],
};

/** Tools that the client runs, and whose form only the models of Anthropic know. Without them, the client could not do its work. */
const OF_CLIENT = /^(?:bash|browser|computer|memory|text_editor)_/;
const SEARCH = /^tool_search_tool_/;

/**
 * Leaves out the tools that Anthropic would run, such as a web search: they are only offered, so the model can do without them. A
 * search for tools is one of them, so the tools that it would find are no longer deferred.
 *
 * @param ignore names each tool that is left out.
 */
function withoutServerTools(body: SentBody, ignore: (member: string) => void): SentBody {
  const { tools } = body;
  if (!Array.isArray(tools)) return body;
  const types = new Set((tools as unknown[]).map(serverTypeOf).filter((type) => type !== undefined));
  if (types.size === 0) return body;
  for (const type of types) ignore(`tools.${type}`);
  const left = (tools as unknown[]).filter((tool) => serverTypeOf(tool) === undefined);
  const hasSearch = [...types].some((type) => SEARCH.test(type));
  return { ...body, tools: hasSearch ? left.map((tool) => ({ ...(tool as object), defer_loading: false })) : left };
}

function serverTypeOf(tool: unknown): string | undefined {
  const type = typeof tool === 'object' && tool !== null && 'type' in tool ? tool.type : undefined;
  return typeof type === 'string' && type !== 'custom' && !OF_CLIENT.test(type) ? type : undefined;
}

/** Returns the tools that the model may see: a deferred tool is hidden until a result refers to it, or the choice names it. */
function visibleTools({ tools, messages }: CountTokensBody, chosen?: string): readonly ToolBody[] {
  if (!tools?.some(({ defer_loading }) => defer_loading === true)) return tools ?? [];
  const found = new Set<string>(chosen === undefined ? [] : [chosen]);
  for (const { content } of messages) {
    for (const block of Array.isArray(content) ? content : []) {
      if (block.type !== 'tool_result' || !Array.isArray(block.content)) continue;
      for (const part of block.content) if (part.type === 'tool_reference') found.add(part.tool_name);
    }
  }
  return tools.filter(({ name, defer_loading }) => defer_loading !== true || found.has(name));
}

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

function messagesRequest(body: MessagesBody): MessagesRequest {
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
    model,
    isStream: body.stream === true,
    thinking: shownThinking(thinking),
    mapped,
  };
}

/** Returns the members of a body of `POST messages/count_tokens` that count for the tokens of a prompt. */
function countTokensRequest(body: CountTokensBody): MappedRequest {
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

/**
 * Converts a body to the form of the schemas, checks it, and names the members that the schema does not have. A body may have 32 MiB,
 * so other requests run between the steps.
 *
 * @throws {ServiceError} `invalid_request`.
 */
async function checked<Schema extends z.ZodType>(
  schema: Schema,
  body: SentBody,
  ignore: Ignore,
): Promise<z.infer<Schema>> {
  const steps = new Steps();
  const converted = withoutServerTools(withConvertedBlocks(body, ignore), ignore);
  if (steps.isOver) await steps.next();
  const used = checkedBody(schema, converted, Infinity);
  if (steps.isOver) await steps.next();
  for (const path of ignoredPaths(converted, used, { inLists: true })) ignore(path);
  if (steps.isOver) await steps.next();
  return used;
}

/** Reads the bodies of `POST messages`. */
export const MESSAGES_PARSER = {
  maxBytes: MAX_COMPATIBLE_BODY_BYTES,
  async parse(body: SentBody, ignore: Ignore): Promise<MessagesRequest> {
    return messagesRequest(await checked(MessagesBody, body, ignore));
  },
};

/** Reads the bodies of `POST messages/count_tokens`. */
export const COUNT_TOKENS_PARSER = {
  maxBytes: MAX_COMPATIBLE_BODY_BYTES,
  async parse(body: SentBody, ignore: Ignore): Promise<MappedRequest> {
    return countTokensRequest(await checked(CountTokensBody, body, ignore));
  },
};
