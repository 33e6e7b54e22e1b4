import { finishParts } from '../../contract/finish-reason.js';
import type { ProviderEvent, ResponseHeaders } from '../../contract/protocol.js';
import { providerFailure, ProviderFailure } from '../../contract/provider-failure.js';
import type { StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { errorEventParts, unreadableEventParts } from '../shared/event-parts.js';
import { httpFailure } from '../shared/reported-failure.js';
import { isJsonObject, isText, type JsonObject, parseJsonObject } from '../shared/json-object.js';
import { reportIn, shownCause } from '../shared/provider-report.js';
import { tokenCount, tokenUsage, agreedCounts } from '../shared/token-count.js';
import { wholeCallParts } from '../shared/tool-calls.js';

/** A duration of Google, such as `34s` or `34.4s`. */
const SECONDS = /^(\d{1,9}(?:\.\d{1,9})?)s$/;

/**
 * Converts an error of Google to the error for the caller. Returns `undefined` when the usual conversion fits.
 *
 * Google answers 400 to an invalid key and to an account without access, and puts the time to wait into the body.
 */
export function geminiFailure(
  status: number,
  headers: ResponseHeaders,
  body: JsonObject | undefined,
): ProviderFailure | undefined {
  const error = body?.error;
  if (!isJsonObject(error)) return undefined;
  const details = Array.isArray(error.details) ? error.details.filter(isJsonObject) : [];
  if (details.some(({ reason }) => isText(reason) && reason.startsWith('API_KEY_')))
    return ourFault(status, 'the API key', error);
  if (error.status === 'FAILED_PRECONDITION') return ourFault(status, 'the account', error);
  const seconds = details.map(({ retryDelay }) => secondsOf(retryDelay)).find((delay) => delay !== undefined);
  if (seconds === undefined) return undefined;
  return httpFailure(status, { ...headers, 'retry-after': String(seconds) }, JSON.stringify(body));
}

function ourFault(status: number, refused: string, error: JsonObject): ProviderFailure {
  return providerFailure('upstream_error', `HTTP ${status}: Google refuses ${refused}.`, {
    scope: 'upstream',
    failureCause: { kind: 'unauthorized', status, ...shownCause(reportIn(error)) },
  });
}

function secondsOf(delay: unknown): number | undefined {
  const seconds = isText(delay) ? SECONDS.exec(delay)?.[1] : undefined;
  return seconds === undefined ? undefined : Math.ceil(Number(seconds));
}

/** Returns the parts of one event. */
export function geminiEventParts({ event, data }: ProviderEvent): readonly StreamPart[] {
  const body = parseJsonObject(data);
  if (body === undefined) return unreadableEventParts(data);
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
    const { id, name, args, partialArgs, willContinue } = functionCall;
    // Gemini sends the arguments in pieces only to those who ask for it.
    if (partialArgs !== undefined || willContinue === true)
      return [{ type: 'error', error: providerFailure('upstream_error', 'The arguments of a call are in pieces.') }];
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
  const finish = finishParts(raw);
  parts.push(...finish);
  if (finish[0]?.type === 'finish') parts.push({ type: 'complete', last: false });
  else if (finish.length === 0 && isJsonObject(feedback) && isText(feedback.blockReason)) {
    const message = 'The content filter of the provider has blocked the prompt.';
    parts.push({ type: 'error', error: new ProviderFailure('upstream_rejected', message) });
  }
}
