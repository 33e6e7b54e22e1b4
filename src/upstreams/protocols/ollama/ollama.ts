import { z } from 'zod';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { ProviderEvent } from '../../contract/framing.js';
import type { AnswerReader, HttpProtocol, UpstreamRequest } from '../../contract/protocol.js';
import { finishParts } from '../../contract/finish-reason.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { ndjson } from '../../transport/ndjson-decoder.js';
import { endpoint, streamHeaders } from '../shared/endpoint.js';
import { errorEventParts, unreadableEventParts, endMarkerParts, NOTHING } from '../shared/event-parts.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { JsonRequestProtocol } from '../shared/json-request.js';
import { optionMembers, SAME_OPTION_NAMES } from '../shared/option-members.js';
import { tokenCount, tokenUsage } from '../shared/token-count.js';
import { wholeCallParts } from '../shared/tool-calls.js';
import { formatOf, ollamaMessages, thinkOf, toolMembers } from './ollama-messages.js';

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
