import type { ProviderEvent, AnswerReader } from '../../contract/protocol.js';
import { providerFailure } from '../../contract/provider-failure.js';
import type { StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { errorEventParts, unreadableEventParts, NOTHING, PROGRESS } from '../shared/event-parts.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { reportedFailure } from '../shared/reported-failure.js';
import { agreedCounts, tokenCount, tokenUsage } from '../shared/token-count.js';
import { ResponseItems } from './response-items.js';

/** Events before any work on the answer: the provider has accepted the request, or it waits in a queue. */
const BEFORE_WORK: ReadonlySet<unknown> = new Set(['response.created', 'response.in_progress', 'response.queued']);
const ORDER: readonly StreamPart['type'][] = ['reasoning', 'text'];

/** Reads the events of one response. */
export class ResponsesReader implements AnswerReader {
  private readonly items = new ResponseItems();

  parts({ event, data }: ProviderEvent): readonly StreamPart[] {
    const body = parseJsonObject(data);
    if (event === 'error' || body?.type === 'error') return errorEventParts(data, body);
    if (body !== undefined) return this.eventParts(body);
    const text = data.trim();
    // Some servers end with the marker of Chat Completions. The marker alone does not say that the response is complete.
    return text === '' || text === '[DONE]' ? NOTHING : unreadableEventParts(data);
  }

  private eventParts(body: JsonObject): readonly StreamPart[] {
    const { items } = this;
    try {
      switch (body.type) {
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return items.addText(body, body.delta);
        case 'response.output_text.done':
          return items.finishText(body, body.text);
        case 'response.refusal.done':
          return items.finishText(body, body.refusal);
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return items.addReasoning(body, body.delta);
        case 'response.output_item.added':
          return items.begin(body, body.item);
        case 'response.function_call_arguments.delta':
          return items.addArguments(body, body.delta);
        case 'response.function_call_arguments.done':
          return items.finishArguments(body, body.arguments);
        case 'response.output_item.done':
          return items.finish(body, body.item);
        case 'response.completed':
        case 'response.incomplete':
        case 'response.failed':
        case 'response.cancelled':
        case 'response.done':
          return this.ending(body.type, isJsonObject(body.response) ? body.response : {});
        case undefined:
          return this.wholeParts(body);
        default:
          return isProgress(body.type) ? PROGRESS : NOTHING;
      }
    } catch (error) {
      return [{ type: 'error', error: providerFailure('upstream_error', (error as Error).message) }];
    }
  }

  /** Returns the parts of a response that a server sends whole, although the request asks for a stream. */
  private wholeParts(body: JsonObject): readonly StreamPart[] {
    if (Array.isArray(body.output)) return this.ending(`response.${String(body.status)}`, body);
    return body.error ? [{ type: 'error', error: failureOf(body.error) }] : NOTHING;
  }

  /** Adds what only the last event has: a server may send the items in this event alone. */
  private ending(event: string, response: JsonObject): readonly StreamPart[] {
    const type = typeOf(event, response);
    const usage = usageOf(response.usage);
    const counts: StreamPart[] = usage === undefined ? [] : [{ type: 'usage', usage }];
    if (type === 'response.failed' || type === 'response.cancelled' || isJsonObject(response.error)) {
      const { error } = response;
      return [...counts, { type: 'error', error: failureOf(error ?? { code: type }) }];
    }
    const isWhole = type === 'response.completed';
    if (!isWhole && type !== 'response.incomplete') return counts;
    const late = this.items.late(response.output, isWhole).sort((a, b) => rankOf(a) - rankOf(b));
    return [...late, ...counts, ...(isWhole ? finish('stop', 'completed') : cut(response.incomplete_details))];
  }
}

/** Some servers send `response.completed` with a response whose own status is another. */
function typeOf(event: string, { status, incomplete_details: details }: JsonObject): string {
  if (event === 'response.completed' && isJsonObject(details)) return 'response.incomplete';
  const isOther = event === 'response.done' || status === 'incomplete' || status === 'failed' || status === 'cancelled';
  return isOther ? `response.${String(status)}` : event;
}

function rankOf({ type }: StreamPart): number {
  const rank = ORDER.indexOf(type);
  return rank === -1 ? ORDER.length : rank;
}

/** Why a response is not complete. An unknown reason is a failure. */
function cut(details: unknown): readonly StreamPart[] {
  const reason = isJsonObject(details) ? String(details.reason).toLowerCase() : '';
  switch (reason) {
    case 'max_output_tokens':
    case 'max_tokens':
    case 'length':
      return finish('length', reason);
    case 'content_filter':
      return finish('content_filter', reason);
    default:
      return [{ type: 'error', error: providerFailure('upstream_error', 'The response is not complete.') }];
  }
}

function finish(reason: 'stop' | 'length' | 'content_filter', raw: string): readonly StreamPart[] {
  return [
    { type: 'finish', reason, raw },
    { type: 'complete', last: true },
  ];
}

/** The codes about images of the request have words that mean other failures elsewhere, such as `image_file_not_found`. */
function failureOf(error: unknown) {
  const code = isJsonObject(error) ? error.code : undefined;
  if (isText(code) && code.includes('image'))
    return providerFailure('upstream_rejected', 'The provider refuses an image.');
  return reportedFailure(error);
}

function isProgress(type: unknown): boolean {
  return isText(type) && type.startsWith('response.') && !BEFORE_WORK.has(type);
}

function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const { input_tokens_details: ofInput, output_tokens_details: ofOutput } = usage;
  const { cached_tokens: cached, cache_write_tokens: written } = isJsonObject(ofInput) ? ofInput : {};
  const { reasoning_tokens: reasoning } = isJsonObject(ofOutput) ? ofOutput : {};
  const total = tokenCount(usage.total_tokens);
  return tokenUsage({
    ...agreedCounts(
      tokenCount(usage.input_tokens ?? usage.prompt_tokens),
      tokenCount(usage.output_tokens ?? usage.completion_tokens),
      total,
    ),
    cachedInputTokens: tokenCount(cached),
    cacheWriteInputTokens: tokenCount(written),
    reasoningOutputTokens: tokenCount(reasoning),
  });
}
