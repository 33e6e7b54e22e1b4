import { generationOptionsOf } from '../../../plugin-api/core/config.js';
import type { BodyParser } from '../../../plugin-api/core/http.js';
import type {
  AssistantMessage,
  Message,
  ToolResult,
  UserMessage,
  ResponseFormat,
  Tool,
  ToolChoice,
} from '../../../plugin-api/core/upstreams.js';
import {
  partsOf,
  pathsOf,
  withoutEmpty,
  type Located,
  type MappedMessage,
  type BodyPlace,
} from '../shared/error-formats.js';
import { textAt, refused, type Ignore, checkedBody, ignoredPaths } from '../shared/checked-body.js';
import { detailOf, effortOf, has } from '../shared/common-members.js';
import type { CompatibleRequest } from '../shared/compatible-answers.js';
import { customArguments, customTool, functionOf } from '../shared/custom-tools.js';
import { MAX_COMPATIBLE_BODY_BYTES } from '../shared/surface-options.js';
import {
  type AssistantBody,
  type CallBody,
  type MessageBody,
  type Texts,
  type UserContent,
  type AllowedTool,
  ChatCompletionsBody,
  type ToolBody,
} from './chat-completions-body.js';

type AnswerPart = Exclude<AssistantMessage['content'], string>[number];
type UserPart = Exclude<UserMessage['content'], string>[number];

/** Converts the messages of a request. Neighbouring messages of tools become one message with several results. */
function mappedMessages(messages: readonly MessageBody[]): MappedMessage[] {
  const mapped: MappedMessage[] = [];
  for (const [index, body] of messages.entries()) {
    const path = `messages.${index}`;
    switch (body.role) {
      case 'system':
      case 'developer':
        mapped.push({ message: { role: 'system', content: textOf(body.content) }, path, parts: [] });
        break;
      case 'user':
        mapped.push(userMessage(body.content, path));
        break;
      case 'assistant': {
        const content = answerOf(body, path);
        // An empty answer tells the model nothing.
        if (content.length === 0) break;
        mapped.push({ message: { role: 'assistant', content: partsOf(content) }, path, parts: pathsOf(content) });
        break;
      }
      case 'tool':
        addResult(mapped, { toolCallId: body.tool_call_id, content: textOf(body.content) }, path);
        break;
    }
  }
  return withoutEmpty(mapped);
}

function textOf(content: Texts | null | undefined): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : part.refusal)).join('');
}

/** Parts without any text are left out. */
function userMessage(body: UserContent, path: string): MappedMessage {
  if (typeof body === 'string') return { message: { role: 'user', content: body }, path, parts: [] };
  const content = body.flatMap((part, index): Located<UserPart>[] => {
    const at = `${path}.content.${index}`;
    if (part.type === 'text') return part.text === '' ? [] : [{ part, path: at }];
    const { url, detail } = part.image_url;
    return [{ part: { type: 'image', url, ...detailOf(detail) }, path: at }];
  });
  return { message: { role: 'user', content: partsOf(content) }, path, parts: pathsOf(content) };
}

function answerOf(body: AssistantBody, path: string): readonly Located<AnswerPart>[] {
  const reasoning = body.reasoning_content ?? textAt(body.reasoning, `${path}.reasoning`);
  const text = textOf(body.content);
  const calls = (body.tool_calls ?? []).map((call, index) => ({
    part: callOf(call),
    path: `${path}.tool_calls.${index}`,
  }));
  const at = `${path}.content`;
  return [
    ...(reasoning ? [{ part: { type: 'reasoning' as const, text: reasoning }, path: at }] : []),
    ...(text ? [{ part: { type: 'text' as const, text }, path: at }] : []),
    ...calls,
  ];
}

function callOf(call: CallBody): AnswerPart {
  const signature = call.extra_content?.google?.thought_signature;
  return {
    type: 'tool_call',
    id: call.id,
    // Some clients send no arguments for a tool without parameters.
    ...('custom' in call
      ? { name: call.custom.name, json: customArguments(call.custom.input) }
      : { name: call.function.name, json: call.function.arguments || '{}' }),
    ...(signature && { signature }),
  };
}

function addResult(mapped: MappedMessage[], result: ToolResult, path: string): void {
  const last = mapped.at(-1);
  if (last?.message.role === 'tool') {
    const message: Message = { role: 'tool', content: [...last.message.content, result] };
    mapped[mapped.length - 1] = { message, path: last.path, parts: [...last.parts, path] };
  } else {
    mapped.push({ message: { role: 'tool', content: [result] }, path, parts: [path] });
  }
}

interface ReadTools {
  readonly tools: readonly Tool[];
  /** The names of the tools whose input is a text. */
  readonly customTools: readonly string[];
}

/**
 * Converts the tools. A tool that OpenAI would run is only offered, so the model can do without it.
 *
 * @param ignore names a tool that is left out.
 */
function toolsOf(given: readonly ToolBody[], ignore: Ignore): ReadTools {
  const tools: Tool[] = [];
  const customTools: string[] = [];
  for (const tool of given) {
    if ('function' in tool) tools.push(functionOf(tool.function));
    else if ('custom' in tool) {
      tools.push(customTool(tool.custom, tool.custom.format?.grammar));
      customTools.push(tool.custom.name);
    } else ignore(`tools.${tool.type}`);
  }
  return { tools, customTools };
}

/** Returns the choice, and the tools that it allows. With `allowed_tools`, the model gets the allowed tools only. */
function toolChoiceOf(
  { tool_choice: choice }: ChatCompletionsBody,
  tools: readonly Tool[],
): { readonly choice: ToolChoice | undefined; readonly offered: readonly Tool[] } {
  if (choice === undefined || choice === null) return { choice: undefined, offered: tools };
  if (typeof choice === 'string') return { choice, offered: tools };
  switch (choice.type) {
    case 'function':
      return { choice: { tool: choice.function.name }, offered: tools };
    case 'custom':
      return { choice: { tool: choice.custom.name }, offered: tools };
    case 'allowed_tools': {
      const { mode, tools: allowed } = choice.allowed_tools;
      return { choice: mode ?? undefined, offered: allowedTools(allowed, tools) };
    }
  }
}

const ALLOWED = 'tool_choice.allowed_tools.tools';

/** Tools of other types were left out of the tools. */
function allowedTools(allowed: readonly AllowedTool[], tools: readonly Tool[]): readonly Tool[] {
  const names = new Set<string>();
  for (const [index, tool] of allowed.entries()) {
    const called = 'function' in tool ? tool.function : 'custom' in tool ? tool.custom : undefined;
    if (called === undefined) continue;
    const { name } = called;
    if (!tools.some((offered) => offered.name === name))
      throw refused(`${ALLOWED}.${index}.${tool.type}.name`, 'must be the name of a tool in tools');
    names.add(name);
  }
  if (names.size === 0) throw refused(ALLOWED, 'must have a function: the service runs no tools of its own');
  return tools.filter(({ name }) => names.has(name));
}

function responseFormatOf({ response_format: format }: ChatCompletionsBody): ResponseFormat | undefined {
  if (format?.type === 'json_object') return { type: 'json' };
  if (format?.type !== 'json_schema') return undefined;
  const { name, description, schema, strict } = format.json_schema;
  return {
    type: 'json_schema',
    name,
    description: description ?? undefined,
    schema: schema ?? {},
    strict: strict ?? undefined,
  };
}

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
      model: body.model,
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
