import type { FinishReason, StreamPart, TokenUsage } from '../stream-part.js';
import { NOTHING, PROGRESS } from './fixed-parts.js';
import { isJsonObject, isText, type JsonObject } from './json-object.js';
import { tokenCount, tokenUsage } from './token-count.js';
import { reportedFailure, vendorFailure, type VendorFailureCode } from './vendor-failure.js';

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
]);

/** Words in place of a finish reason that say that the answer is not whole. */
const FAILED_FINISHES: ReadonlyMap<string, VendorFailureCode> = new Map([
  ['error', 'upstream_error'],
  ['abort', 'upstream_error'],
  ['network_error', 'upstream_error'],
  ['insufficient_system_resource', 'upstream_unavailable'],
]);

/** Members of a delta that show the model at work on something that is not the answer. */
const PROGRESS_MEMBERS = [
  'reasoning_content',
  'reasoning',
  'thinking',
  'reasoning_details',
  'tool_calls',
  'function_call',
];

/** The parts of one chunk, in this order: text or progress, usage, then an error, or finish and complete. */
export function openAiChunkParts(chunk: JsonObject): readonly StreamPart[] {
  const choice = firstChoice(chunk.choices);
  const delta = choice !== undefined && isJsonObject(choice.delta) ? choice.delta : undefined;
  const text = delta === undefined ? '' : textOf(delta.content);
  const usage = usageOf(chunk);
  const ending = endingOf(chunk, choice);
  if (usage === undefined && ending === NOTHING) {
    if (text !== '') return [{ type: 'text', text }];
    return delta !== undefined && isProgress(delta) ? PROGRESS : NOTHING;
  }
  const parts: StreamPart[] = [];
  if (text !== '') parts.push({ type: 'text', text });
  else if (delta !== undefined && isProgress(delta)) parts.push(...PROGRESS);
  if (usage !== undefined) parts.push({ type: 'usage', usage });
  parts.push(...ending);
  return parts;
}

/** We ask for one choice: others are none of ours. Some servers leave out its index. */
function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.find((choice): choice is JsonObject => isJsonObject(choice) && (choice.index ?? 0) === 0);
}

/** Mistral's reasoning models send a list of parts, of which those of type `text` are the answer. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  let text = '';
  for (const part of content) {
    if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') text += part.text;
  }
  return text;
}

/** Called for a delta without text only, so a list as content holds something else, such as Mistral's thinking. */
function isProgress(delta: JsonObject): boolean {
  return isFilledList(delta.content) || PROGRESS_MEMBERS.some((member) => isFilled(delta[member]));
}

function isFilled(value: unknown): boolean {
  return isText(value) || isFilledList(value) || isJsonObject(value);
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** In the last chunk or in one of its own; Groq's stands in a member of its own. */
function usageOf(chunk: JsonObject): TokenUsage | undefined {
  const usage = isJsonObject(chunk.usage) ? chunk.usage : isJsonObject(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  if (!isJsonObject(usage)) return undefined;
  return tokenUsage(tokenCount(usage.prompt_tokens), tokenCount(usage.completion_tokens));
}

function endingOf(chunk: JsonObject, choice: JsonObject | undefined): readonly StreamPart[] {
  const error = errorOf(chunk, choice);
  if (error) return [{ type: 'error', error: reportedFailure(error, chunk) }];
  const raw = choice?.finish_reason;
  if (!isText(raw)) return NOTHING;
  const failure = FAILED_FINISHES.get(raw);
  if (failure !== undefined) return [{ type: 'error', error: vendorFailure(failure, `finish_reason: ${raw}`) }];
  return [
    { type: 'finish', reason: FINISH_REASONS.get(raw) ?? 'other', raw },
    { type: 'complete', last: false },
  ];
}

/**
 * What a vendor puts in place of, or into, a chunk when it fails; nothing truthy when it does not. vLLM and Mistral send
 * the error itself.
 */
function errorOf(chunk: JsonObject, choice: JsonObject | undefined): unknown {
  if (chunk.object === 'error') return chunk.error || chunk;
  return chunk.error || choice?.error || (isJsonObject(chunk.x_groq) && chunk.x_groq.error);
}
