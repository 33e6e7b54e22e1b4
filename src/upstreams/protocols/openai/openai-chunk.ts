import type { FinishReason, StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { NOTHING, PROGRESS } from '../shared/event-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { reportedFailure } from '../shared/reported-failure.js';
import type { OpenAiToolCalls } from './openai-tool-calls.js';
import { openAiUsage } from './openai-usage.js';
import { providerFailure, type ProviderFailureCode } from '../../contract/provider-failure.js';

const FINISH_REASONS: ReadonlyMap<string, FinishReason> = new Map([
  ['stop', 'stop'],
  ['eos', 'stop'],
  ['length', 'length'],
  ['model_length', 'length'],
  ['content_filter', 'content_filter'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
]);

/** Finish reasons that report a failure. The answer is then not complete. */
const FAILED_FINISHES: ReadonlyMap<string, ProviderFailureCode> = new Map([
  ['error', 'upstream_error'],
  ['abort', 'upstream_error'],
  ['network_error', 'upstream_error'],
  ['insufficient_system_resource', 'upstream_unavailable'],
]);

/** Members of a delta that hold reasoning as a text. Providers use different names, and some send two of them. */
const REASONING_MEMBERS = ['reasoning_content', 'reasoning', 'thinking'];
/** Members of a delta that show that the model works on something other than the answer. */
const PROGRESS_MEMBERS = [...REASONING_MEMBERS, 'reasoning_details', 'tool_calls', 'function_call'];

/** What is known of one answer so far. */
export interface ChunkState {
  readonly calls: OpenAiToolCalls;
  /** The member that holds the reasoning, while the answer reasons. */
  reasoningMember: string | undefined;
}

/**
 * Returns the parts of one chunk, in this order: reasoning, text, tool calls, or progress without them; usage; then an error, or
 * finish and complete.
 */
export function openAiChunkParts(chunk: JsonObject, state: ChunkState): readonly StreamPart[] {
  const choice = firstChoice(chunk.choices);
  const delta = choice !== undefined && isJsonObject(choice.delta) ? choice.delta : undefined;
  const pieces = delta === undefined ? NOTHING : piecesOf(delta, state);
  const usage = usageOf(chunk);
  const ending = endingOf(chunk, choice);
  const [first] = ending;
  const closing = first?.type === 'finish' ? [...reasoningEnd(state), ...state.calls.ends(first.reason)] : NOTHING;
  if (usage === undefined && ending === NOTHING) return pieces;
  return [...pieces, ...closing, ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]), ...ending];
}

function piecesOf(delta: JsonObject, state: ChunkState): readonly StreamPart[] {
  // A refusal is what the model says instead of an answer in the requested format.
  const text = textOf(delta.content) || textOf(delta.refusal);
  const reasoning = reasoningOf(delta, state);
  const calls = state.calls.parts(delta);
  if (text !== '' && reasoning === '' && calls.length === 0 && state.reasoningMember === undefined)
    return [textPart(text)];
  const parts: StreamPart[] = reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }];
  if (text !== '' || calls.length > 0) parts.push(...reasoningEnd(state));
  if (text !== '') parts.push(textPart(text));
  parts.push(...calls);
  if (parts.length > 0) return parts;
  return isProgress(delta) ? PROGRESS : NOTHING;
}

/**
 * Returns the end of a block of reasoning. Its signature is the name of the member, so that the reasoning comes back to a provider
 * that knows the member. Other providers refuse a member that they do not know.
 */
function reasoningEnd(state: ChunkState): readonly StreamPart[] {
  const { reasoningMember } = state;
  if (reasoningMember === undefined) return NOTHING;
  state.reasoningMember = undefined;
  return [{ type: 'reasoning', text: '', signature: reasoningMember }];
}

function textPart(text: string): StreamPart {
  return { type: 'text', text };
}

function reasoningOf(delta: JsonObject, state: ChunkState): string {
  for (const member of REASONING_MEMBERS) {
    const value = delta[member];
    if (!isText(value)) continue;
    state.reasoningMember = member;
    return value;
  }
  if (!Array.isArray(delta.content)) return '';
  let reasoning = '';
  for (const part of delta.content) {
    if (isJsonObject(part) && part.type === 'thinking') reasoning += textOf(part.thinking);
  }
  return reasoning;
}

/** Returns the choice with index 0, because a request asks for one choice. Some servers leave out the index. */
function firstChoice(choices: unknown): JsonObject | undefined {
  if (!Array.isArray(choices)) return undefined;
  return choices.find((choice): choice is JsonObject => isJsonObject(choice) && (choice.index ?? 0) === 0);
}

/**
 * Returns a text, or the text of a list of parts. Mistral's reasoning models send lists, and only the parts of type `text`
 * belong to the answer.
 */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  let text = '';
  for (const part of content) {
    if (isJsonObject(part) && part.type === 'text' && typeof part.text === 'string') text += part.text;
  }
  return text;
}

/** Whether a delta without text shows progress. A list as content then holds something else, such as references. */
function isProgress(delta: JsonObject): boolean {
  return isFilledList(delta.content) || PROGRESS_MEMBERS.some((member) => isFilled(delta[member]));
}

function isFilled(value: unknown): boolean {
  return isText(value) || isFilledList(value) || isJsonObject(value);
}

function isFilledList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0;
}

/** Returns the token counts. They are in the last chunk or in a separate chunk. Groq uses the member `x_groq`. */
function usageOf(chunk: JsonObject): TokenUsage | undefined {
  const usage = isJsonObject(chunk.usage) ? chunk.usage : isJsonObject(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  return isJsonObject(usage) ? openAiUsage(usage) : undefined;
}

function endingOf(chunk: JsonObject, choice: JsonObject | undefined): readonly StreamPart[] {
  const error = errorOf(chunk, choice);
  if (error) return [{ type: 'error', error: reportedFailure(error, chunk) }];
  const raw = choice?.finish_reason;
  if (!isText(raw)) return NOTHING;
  const failure = FAILED_FINISHES.get(raw);
  if (failure !== undefined) return [{ type: 'error', error: providerFailure(failure, `finish_reason: ${raw}`) }];
  const reason = FINISH_REASONS.get(raw) ?? 'other';
  return [
    { type: 'finish', reason, raw },
    { type: 'complete', last: false },
  ];
}

/**
 * Returns the error of a chunk, or a falsy value. Providers put the error into a chunk or send it instead of a chunk.
 * vLLM and Mistral send the error object itself.
 */
function errorOf(chunk: JsonObject, choice: JsonObject | undefined): unknown {
  if (chunk.object === 'error') return chunk.error || chunk;
  return chunk.error || choice?.error || (isJsonObject(chunk.x_groq) && chunk.x_groq.error);
}
