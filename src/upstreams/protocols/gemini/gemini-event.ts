import type { ProviderEvent } from '../../contract/framing.js';
import { providerFailure } from '../../contract/provider-failure.js';
import type { FinishReason, StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { errorEventParts, unreadableEventParts, NOTHING } from '../shared/event-parts.js';
import { isJsonObject, isText, parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { tokenCount, tokenUsage, agreedCounts } from '../shared/token-count.js';
import { wholeCallParts } from '../shared/tool-calls.js';
import { geminiFailure } from './gemini-failure.js';

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['RECITATION', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['LANGUAGE', 'content_filter'],
]);

/** The model has failed. The answer is not complete. */
const FAILED_FINISHES: ReadonlySet<string> = new Set([
  'MALFORMED_FUNCTION_CALL',
  'MALFORMED_RESPONSE',
  'UNEXPECTED_TOOL_CALL',
]);

/** Returns the parts of one event. */
export function geminiEventParts({ event, data }: ProviderEvent): readonly StreamPart[] {
  const body = parseJsonObject(data);
  if (body === undefined) return data.trim() === '' ? NOTHING : unreadableEventParts(data);
  if (event === 'error' || body.error) return failureParts(data, body);
  const candidate = firstCandidate(body.candidates);
  const parts = contentParts(candidate?.content);
  const usage = usageOf(body.usageMetadata);
  if (usage !== undefined) parts.push({ type: 'usage', usage });
  addEnding(parts, candidate?.finishReason, body.promptFeedback);
  return parts;
}

function failureParts(data: string, body: JsonObject): readonly StreamPart[] {
  const status = isJsonObject(body.error) ? body.error.code : undefined;
  const error = typeof status === 'number' ? geminiFailure(status, {}, body) : undefined;
  return error === undefined ? errorEventParts(data, body) : [{ type: 'error', error }];
}

/** Returns the candidate with index 0, because a request asks for one candidate. The index can be missing. */
function firstCandidate(candidates: unknown): JsonObject | undefined {
  if (!Array.isArray(candidates)) return undefined;
  return candidates.find((candidate): candidate is JsonObject => isJsonObject(candidate) && !candidate.index);
}

/** Returns thoughts, texts and function calls, in order. Other parts, such as code that a model runs, show that the model works. */
function contentParts(content: unknown): StreamPart[] {
  if (!isJsonObject(content) || !Array.isArray(content.parts)) return [];
  const parts: StreamPart[] = [];
  let isWorking = false;
  for (const part of content.parts) {
    if (!isJsonObject(part)) continue;
    const own = partsOf(part);
    if (own === undefined) isWorking = true;
    else parts.push(...own);
  }
  if (isWorking && parts.length === 0) parts.push({ type: 'progress' });
  return parts;
}

/** Returns the parts of one part of Gemini. `undefined`: only a sign of work. */
function partsOf({ text, thought, functionCall, thoughtSignature }: JsonObject): readonly StreamPart[] | undefined {
  const signature = isText(thoughtSignature) ? thoughtSignature : undefined;
  if (isJsonObject(functionCall)) {
    const { id, name, args } = functionCall;
    return wholeCallParts({ id, name, args, signature });
  }
  if (typeof text !== 'string') return undefined;
  const type = thought === true ? 'reasoning' : 'text';
  const parts: StreamPart[] = text === '' ? [] : [{ type, text }];
  if (signature !== undefined) parts.push({ type: 'reasoning', text: '', signature });
  return parts;
}

/**
 * Returns the token counts. Gemini counts the thoughts apart from the answer, and the prompts for its own tools apart from
 * the prompt. Its total is the sum of all counts.
 */
function usageOf(usage: unknown): TokenUsage | undefined {
  if (!isJsonObject(usage)) return undefined;
  const thoughts = tokenCount(usage.thoughtsTokenCount);
  const input = sumOf(tokenCount(usage.promptTokenCount), tokenCount(usage.toolUsePromptTokenCount));
  const output = sumOf(tokenCount(usage.candidatesTokenCount), thoughts);
  return tokenUsage({
    ...agreedCounts(input, output, tokenCount(usage.totalTokenCount)),
    cachedInputTokens: tokenCount(usage.cachedContentTokenCount),
    reasoningOutputTokens: thoughts,
  });
}

function sumOf(count: number | undefined, extra: number | undefined): number | undefined {
  return count === undefined ? extra : count + (extra ?? 0);
}

/** Adds the finish. Gemini has no end marker: token counts can follow the finish, and some gateways send text after it. */
function addEnding(parts: StreamPart[], raw: unknown, feedback: unknown): void {
  if (isText(raw)) {
    if (FAILED_FINISHES.has(raw)) {
      parts.push({ type: 'error', error: providerFailure('upstream_error', `finishReason: ${raw}`) });
    } else {
      parts.push({ type: 'finish', reason: FINISH_REASONS.get(raw) ?? 'other', raw });
      parts.push({ type: 'complete', last: false });
    }
  } else if (isJsonObject(feedback) && isText(feedback.blockReason)) {
    parts.push({ type: 'error', error: providerFailure('upstream_rejected', 'Gemini has blocked the prompt.') });
  }
}
