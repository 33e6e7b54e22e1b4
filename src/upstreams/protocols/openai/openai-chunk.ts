import { finishParts } from '../../contract/finish-reason.js';
import type { StreamPart, TokenUsage } from '../../contract/stream-part.js';
import { NOTHING, PROGRESS } from '../shared/event-parts.js';
import { isJsonObject, isText, type JsonObject } from '../shared/json-object.js';
import { reportedFailure } from '../shared/reported-failure.js';
import type { OpenAiToolCalls } from './openai-tool-calls.js';
import { tokenCount, tokenUsage, agreedCounts } from '../shared/token-count.js';

/** Members of a delta that hold reasoning as a text. Providers use different names, and some send two of them. */
const REASONING_MEMBERS = ['reasoning_content', 'reasoning', 'thinking'];
const WITHOUT_REASONING = Object.fromEntries(REASONING_MEMBERS.map((member) => [member, undefined]));
/** Members of a delta that show that the model works on something other than the answer. */
const PROGRESS_MEMBERS = [...REASONING_MEMBERS, 'reasoning_details', 'tool_calls', 'function_call'];

/** Codes in events that are no errors. */
const SUCCESS_CODES: ReadonlySet<string> = new Set(['0', '200', 'ok', 'success']);

/** What is known of one answer so far. */
export interface ChunkState {
  readonly calls: OpenAiToolCalls;
  readonly details: ReasoningDetails;
  /** The member that holds the reasoning, while the answer reasons. */
  reasoningMember: string | undefined;
  /** Whether a delta has brought text. A message that repeats it at the end then counts no more. */
  hasDeltaText: boolean;
  hasFinishReason: boolean;
}

/**
 * Returns the parts of one chunk, in this order: reasoning, text, tool calls, or progress without them; usage; then an error, or
 * finish and complete.
 */
export function openAiChunkParts(chunk: JsonObject, state: ChunkState): readonly StreamPart[] {
  const choice = firstChoice(chunk.choices);
  const pieces = choice === undefined ? NOTHING : choiceParts(choice, state);
  const usage = usageOf(chunk, choice);
  const reported = endingOf(chunk, choice);
  const first = reported[0];
  if (first?.type === 'finish') state.hasFinishReason = true;
  const isFinished = first?.type === 'finish' && first.reason !== 'other';
  const closing = isFinished ? [...reasoningEnd(state), ...state.calls.ends()] : NOTHING;
  const { failure } = state.calls;
  const ending = failure === undefined ? reported : [{ type: 'error' as const, error: failure }];
  if (usage === undefined && ending.length === 0) return pieces;
  return [...pieces, ...closing, ...(usage === undefined ? [] : [{ type: 'usage' as const, usage }]), ...ending];
}

/**
 * Returns the parts of a choice. Some servers have `message` in place of `delta`, as whole answers do, or the `text` of the older
 * completions. Others repeat in a last `message` what the deltas have brought.
 */
function choiceParts({ delta, message, text }: JsonObject, state: ChunkState): readonly StreamPart[] {
  const ofDelta = isJsonObject(delta) ? piecesOf(delta, state) : NOTHING;
  state.hasDeltaText ||= ofDelta.some(({ type }) => type === 'text');
  if (message === undefined && text === undefined) return ofDelta;
  const hasText = state.hasDeltaText || ofDelta.length > 0;
  if (isJsonObject(message)) {
    const rest = { ...message, ...(hasText && { content: undefined, ...WITHOUT_REASONING }) };
    return [...ofDelta, ...piecesOf(state.calls.isEmpty || !hasText ? rest : { content: rest.content }, state)];
  }
  return isText(text) && !hasText ? [textPart(text)] : ofDelta;
}

function piecesOf(delta: JsonObject, state: ChunkState): readonly StreamPart[] {
  // A refusal is what the model says instead of an answer in the requested format.
  const text = textOf(delta.content) || textOf(delta.refusal);
  const reasoning = reasoningOf(delta, state);
  const calls = state.calls.parts(delta);
  state.details.add(delta.reasoning_details);
  const extra = isJsonObject(delta.extra_content) ? JSON.stringify(delta.extra_content) : '{}';
  const isTextOnly = reasoning === '' && calls.length === 0 && extra === '{}';
  if (text !== '' && isTextOnly && state.reasoningMember === undefined && state.details.isEmpty)
    return [textPart(text)];
  const parts: StreamPart[] = reasoning === '' ? [] : [{ type: 'reasoning', text: reasoning }];
  // What belongs to the message, and not to a call, such as Gemini's signature of a text.
  if (extra !== '{}') parts.push({ type: 'reasoning', text: '', signature: extra });
  if (text !== '' || calls.length > 0) parts.push(...reasoningEnd(state));
  if (text !== '') parts.push(textPart(text));
  parts.push(...calls);
  if (parts.length > 0) return parts;
  return isProgress(delta) ? PROGRESS : NOTHING;
}

/**
 * Returns the end of a block of reasoning. Its signature is `reasoning_details`, or otherwise the name of the member, so that the reasoning comes back to a provider
 * that knows the member. Other providers refuse a member that they do not know.
 */
function reasoningEnd(state: ChunkState): readonly StreamPart[] {
  const signature = state.details.take() ?? state.reasoningMember;
  state.reasoningMember = undefined;
  return signature === undefined ? NOTHING : [{ type: 'reasoning', text: '', signature }];
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

/**
 * Returns the token counts. They are in the last chunk or in a separate chunk. Groq uses the member `x_groq`, and Moonshot the
 * choice.
 */
function usageOf(chunk: JsonObject, choice: JsonObject | undefined): TokenUsage | undefined {
  const ofGroq = isJsonObject(chunk.x_groq) ? chunk.x_groq.usage : undefined;
  if (isJsonObject(chunk.usage)) return openAiUsage(chunk.usage);
  const usage = isJsonObject(ofGroq) ? ofGroq : choice?.usage;
  return isJsonObject(usage) ? openAiUsage(usage) : undefined;
}

function endingOf(chunk: JsonObject, choice: JsonObject | undefined): readonly StreamPart[] {
  const error = errorOf(chunk, choice);
  if (error) return [{ type: 'error', error: reportedFailure(error, chunk) }];
  const finish = finishParts(choice?.finish_reason);
  return finish[0]?.type === 'finish' ? [...finish, { type: 'complete', last: false }] : finish;
}

/**
 * Returns the error of a chunk, or a falsy value. Providers put the error into a chunk or send it instead of a chunk.
 * vLLM and Mistral send the error object itself.
 */
function errorOf(chunk: JsonObject, choice: JsonObject | undefined): unknown {
  if (chunk.object === 'error' || chunk.type === 'error') return chunk.error || chunk;
  const error = chunk.error || choice?.error || (isJsonObject(chunk.x_groq) && chunk.x_groq.error);
  return error || (choice === undefined ? errorOfGateway(chunk) : undefined);
}

/** Returns an error that has no member `error`: with a code and a message, or as MiniMax and Cloudflare send it. */
function errorOfGateway({ base_resp: base, errors, code, message, msg }: JsonObject): unknown {
  if (isJsonObject(base) && Boolean(base.status_code)) return base;
  if (isFilledList(errors)) return errors;
  const isFailure = isText(code) || typeof code === 'number';
  return isFailure && !SUCCESS_CODES.has(String(code).toLowerCase()) && (isText(message) || isText(msg))
    ? { code, message, msg }
    : undefined;
}

/**
 * Returns the token counts of a `usage` object. Providers that speak this protocol use different names for the cache:
 * `cached_tokens` (OpenAI; Moonshot has it in `usage` itself), `prompt_cache_hit_tokens` (DeepSeek), `cache_write_tokens`
 * (OpenRouter) and `cache_creation_input_tokens` (LiteLLM). Some gateways use the names of the Responses API.
 */
export function openAiUsage(usage: JsonObject): TokenUsage | undefined {
  const ofPrompt = detailsOf(usage.prompt_tokens_details ?? usage.input_tokens_details);
  const ofAnswer = detailsOf(usage.completion_tokens_details ?? usage.output_tokens_details);
  const reasoning = tokenCount(ofAnswer.reasoning_tokens);
  const input = tokenCount(usage.prompt_tokens ?? usage.input_tokens);
  const total = tokenCount(usage.total_tokens);
  const output = withReasoning(tokenCount(usage.completion_tokens ?? usage.output_tokens), reasoning, total);
  const { inputTokens, outputTokens } = agreedCounts(input, output, total);
  return tokenUsage({
    inputTokens,
    outputTokens,
    cachedInputTokens:
      tokenCount(ofPrompt.cached_tokens) ??
      tokenCount(usage.cached_tokens) ??
      tokenCount(usage.prompt_cache_hit_tokens),
    cacheWriteInputTokens: tokenCount(ofPrompt.cache_write_tokens) ?? tokenCount(usage.cache_creation_input_tokens),
    reasoningOutputTokens: reasoning,
  });
}

/** Adds the reasoning to the answer, if there is no total to decide and the answer is too small to contain the reasoning. */
function withReasoning(output: number | undefined, reasoning: number | undefined, total: number | undefined) {
  if (output === undefined || reasoning === undefined || total !== undefined) return output;
  return reasoning > output ? output + reasoning : output;
}

function detailsOf(details: unknown): JsonObject {
  return isJsonObject(details) ? details : {};
}

/** The members of a detail that arrive in pieces. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'summary', 'data']);
/** The maximum length of all details, in UTF-16 units. Longer ones are not kept. */
const MAX_LENGTH = 512 * 1024;

/**
 * Collects `reasoning_details` of OpenRouter. They arrive in pieces: neighbouring pieces with one type, index and id are one detail. The next
 * turn sends them back in the same order.
 */
export class ReasoningDetails {
  private details: Record<string, unknown>[] = [];
  private length = 0;

  get isEmpty(): boolean {
    return this.details.length === 0;
  }

  add(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      if (!isJsonObject(piece)) continue;
      this.length += JSON.stringify(piece).length;
      const last = this.details.at(-1);
      if (this.length > MAX_LENGTH) return;
      if (last !== undefined && isSame(last, piece)) join(last, piece);
      else this.details.push({ ...piece });
    }
  }

  /** Returns the details as JSON, and forgets them. `undefined`: there are none, or too many to keep. */
  take(): string | undefined {
    const { details, length } = this;
    this.details = [];
    this.length = 0;
    return details.length === 0 || length > MAX_LENGTH ? undefined : JSON.stringify(details);
  }
}

type Detail = Readonly<Record<string, unknown>>;

/** A detail without an id has the id of its neighbour. */
function isSame(one: Detail, other: Detail): boolean {
  return one.type === other.type && one.index === other.index && (one.id ?? other.id) === (other.id ?? one.id);
}

function join(detail: Record<string, unknown>, piece: Detail): void {
  for (const [name, value] of Object.entries(piece)) {
    const before = detail[name];
    if (TEXTS.has(name) && isText(before) && typeof value === 'string') detail[name] = before + value;
    else if (value !== null) detail[name] = value;
  }
}
