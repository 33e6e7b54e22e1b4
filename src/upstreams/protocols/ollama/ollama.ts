import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall, AnswerReader, HttpProtocol, UpstreamRequest, ProviderEvent } from '../../contract/protocol.js';
import { finishParts } from '../../contract/finish-reason.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { ndjson } from '../../transport/json-stream-decoders.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { errorEventParts, unreadableEventParts, endMarkerParts, NOTHING } from '../shared/event-parts.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { JsonRequestProtocol, optionMembers, SAME_OPTION_NAMES, InvalidMember } from '../shared/json-request.js';
import { tokenCount, tokenUsage } from '../shared/token-count.js';
import { wholeCallParts, CalledNames, argumentsObject } from '../shared/tool-calls.js';
import { asArrived } from '../../../platform/common/json/json-source.js';
import type { AssistantMessage, ImageContent, Message, TextContent } from '../../contract/conversation.js';
import { effortOf } from '../openai/openai-request.js';
import { requiredInlineImage, textsForJson, systemMessagesAt } from '../shared/provider-messages.js';

type Members = Readonly<Record<string, unknown>>;

/** Returns the messages. A message of one plain text stays as it is. @throws {ServiceError} `invalid_request`, for an image that is not a data URL. */
function ollamaMessages(messages: readonly Message[]): readonly Members[] {
  const names = new CalledNames();
  return systemMessagesAt('first', messages).flatMap((message): readonly Members[] => {
    names.add(message);
    const { role } = message;
    switch (message.role) {
      case 'assistant':
        return [answer(message.content)];
      case 'tool':
        return message.content.map((result) => ({
          role,
          tool_name: names.of(result),
          ...textAndImages(result.content),
        }));
      default:
        return [{ role, ...textAndImages(message.content) }];
    }
  });
}

/** Returns the members for tools. @throws {ServiceError} `invalid_request`, because Ollama cannot require a call. */
function toolMembers({ tools, toolChoice }: ChatCall): Members {
  if (tools === undefined || toolChoice === 'none') return {};
  if (toolChoice !== undefined && toolChoice !== 'auto') {
    throw new InvalidMember('tool_choice', 'must be auto or none for this model: its provider cannot require a call');
  }
  return {
    tools: tools.map(({ name, description, parameters }) => ({
      type: 'function',
      function: { name, description, parameters: asArrived(parameters) },
    })),
  };
}

/** Returns the member `format`. */
function formatOf({ responseFormat }: ChatCall): unknown {
  if (responseFormat?.type === 'json') return 'json';
  return responseFormat?.type === 'json_schema' ? asArrived(responseFormat.schema) : undefined;
}

/** Returns the member `think`: whether the model reasons, or a level if the model takes levels. Other models refuse a level. */
function thinkOf({ reasoning, modelThinking }: ChatCall): boolean | string | undefined {
  const effort = reasoning && effortOf(reasoning);
  if (effort === undefined) return undefined;
  if (effort === 'none') return false;
  if (modelThinking !== 'levels') return true;
  if (effort === 'minimal') return 'low';
  return effort === 'xhigh' ? 'high' : effort;
}

function answer(content: AssistantMessage['content']): Members {
  if (typeof content === 'string') return { role: 'assistant', content };
  const thinking = content.flatMap((part) => (part.type === 'reasoning' ? [part.text] : [])).join('');
  const calls = content.flatMap((part) =>
    part.type === 'tool_call' ? [{ function: { name: part.name, arguments: argumentsObject(part.json) } }] : [],
  );
  return {
    role: 'assistant',
    content: textsForJson(content),
    ...(thinking !== '' && { thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

function textAndImages(content: string | readonly (TextContent | ImageContent)[]): Members {
  if (typeof content === 'string') return { content };
  const images = content.flatMap((part) => (part.type === 'image' ? [requiredInlineImage(part).base64] : []));
  return {
    content: textsForJson(content),
    ...(images.length > 0 && { images }),
  };
}

/** A duration in the form of Go, such as `90s`, `1h30m` or `-1m`. */
const DURATION = /^-?(?:\d+(?:\.\d+)?(?:ms|[smh]))+$/;

const Options = z.strictObject({
  /** The size of the context window, in tokens. Ollama silently cuts a longer prompt. */
  num_ctx: z.int().min(1).optional(),
  /** How long the model stays loaded after a request, in seconds or as a duration. A negative value: forever. */
  keep_alive: z
    .union([z.number(), z.string().regex(DURATION)], 'must be a number of seconds, or a duration such as 30m')
    .optional(),
});

export type OllamaOptions = z.infer<typeof Options>;

/**
 * Implements the native chat interface of Ollama. Unlike the OpenAI interface of Ollama, it accepts the size of the context
 * window and the time that a model stays loaded.
 */
export class OllamaProtocol extends JsonRequestProtocol<OllamaOptions> implements HttpProtocol<OllamaOptions> {
  readonly transport = 'http';
  readonly name = 'ollama';
  readonly options = Options;
  readonly framing = ndjson;
  readonly generationOptions = SAME_OPTION_NAMES;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  protected override target(_: ChatCall, upstream: UpstreamConfig<OllamaOptions>): Omit<UpstreamRequest, 'body'> {
    const { apiKey } = upstream;
    const authorization = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
    return {
      url: endpoint(upstream, '/api/chat'),
      headers: streamHeaders({ accept: 'application/x-ndjson', ...authorization }, upstream),
    };
  }

  protected override json(call: ChatCall, { options }: UpstreamConfig<OllamaOptions>): object {
    return {
      model: call.model,
      messages: ollamaMessages(call.messages),
      stream: true,
      think: thinkOf(call),
      format: formatOf(call),
      ...toolMembers(call),
      keep_alive: options.keep_alive,
      options: {
        num_ctx: options.num_ctx,
        num_predict: call.maxTokens,
        ...optionMembers(call.options, this.generationOptions),
      },
    };
  }

  open(): AnswerReader {
    return READER;
  }
}

/** Ollama repeats in each line all that is needed to read the line, so all streams share one reader. */
const READER: AnswerReader = {
  parts({ data }: ProviderEvent): readonly StreamPart[] {
    const line = parseJsonObject(data);
    if (line === undefined) return unreadableEventParts(data);
    if (line.error) return errorEventParts(data, line);
    // Some proxies send the text in the member of `/api/generate`.
    const parts = messageParts(line.message ?? { content: line.response });
    return line.done === true || isText(line.done_reason) ? [...parts, ...endParts(line)] : parts;
  },
};

function messageParts(message: unknown): readonly StreamPart[] {
  if (!isJsonObject(message)) return NOTHING;
  const { content, thinking, tool_calls: toolCalls } = message;
  const parts: StreamPart[] = [];
  if (isText(thinking)) parts.push({ type: 'reasoning', text: thinking });
  if (isText(content)) parts.push({ type: 'text', text: content });
  if (Array.isArray(toolCalls)) parts.push(...toolCalls.flatMap(callParts));
  return parts;
}

/** A call without a name is a failure, as the service finds. */
function callParts(call: unknown): readonly StreamPart[] {
  if (!isJsonObject(call)) return NOTHING;
  const { name, arguments: args } = isJsonObject(call.function) ? call.function : call;
  if (name === undefined && args === undefined) return NOTHING;
  return wholeCallParts({ id: call.id, name, args });
}

/** Returns the parts of the last line. Ollama leaves out the reason if the connection to the model was closed. */
function endParts(line: JsonObject): readonly StreamPart[] {
  const parts: StreamPart[] = [];
  const usage = tokenUsage({
    inputTokens: tokenCount(line.prompt_eval_count),
    outputTokens: tokenCount(line.eval_count),
  });
  if (usage !== undefined) parts.push({ type: 'usage', usage });
  const finish = finishParts(line.done_reason);
  return finish[0]?.type === 'error'
    ? [...parts, ...finish]
    : [...parts, ...finish, ...endMarkerParts(finish.length > 0)];
}
