import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { UpstreamConfig } from '../../../platform/config/config.js';
import { sleep } from '../../../platform/common/timers/pace.js';
import type { CallContext, ChatCall, InProcessProtocol } from '../../contract/protocol.js';
import {
  imagesOf,
  textsOf,
  type ImageContent,
  type Message,
  type Tool,
  type ToolMessage,
} from '../../contract/conversation.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { SAME_OPTION_NAMES } from '../shared/json-request.js';
import { newToolCallId, CalledNames } from '../shared/tool-calls.js';
import { schemaJson } from './schema-value.js';
import { countWords, replyTo, wordsOf } from './small-talk.js';
import { plainMessages, joinedTexts, inlineImage } from '../shared/provider-messages.js';

interface BuiltinProtocolOptions {
  /** The delay between two words, in milliseconds. 0: no delay. */
  readonly wordDelayMs?: number;
}

const NATURAL_WORD_DELAY_MS = 25;
/** Without a delay, the number of words to send before other work of the process can run. */
const WORDS_OF_A_TURN = 100;
/** The length of a piece of arguments, in UTF-16 units. */
const PIECE_LENGTH = 12;
const REASONING = 'I look for a fixed reply that fits the last message. ';

/** A part of the answer that counts as one token, or a part that counts as none. */
interface Step {
  readonly part: StreamPart;
  readonly tokens: 0 | 1;
}

/**
 * Answers without a provider, so that the service works at its first start without an API key of a provider.
 * Sends a requested text, a fixed reply or calls of tools, word by word. A token is a word with the white space after it.
 */
export class BuiltinProtocol implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'builtin';
  /** It obeys `stop` and a temperature of 0, and ignores the others. */
  readonly generationOptions = SAME_OPTION_NAMES;
  readonly capabilities = ['images', 'tools', 'structured_output', 'reasoning'] as const;

  private readonly wordDelayMs: number;

  constructor({ wordDelayMs = NATURAL_WORD_DELAY_MS }: BuiltinProtocolOptions = {}) {
    this.wordDelayMs = wordDelayMs;
  }

  async *stream(call: ChatCall, _: UpstreamConfig, { signal }: CallContext): AsyncGenerator<StreamPart> {
    const tools = calledTools(call);
    const steps = stepsOf(call, tools);
    const limit = call.maxTokens ?? Infinity;
    let outputTokens = 0;
    let reasoningOutputTokens = 0;
    let step = steps.next();
    while (step.done !== true && outputTokens + step.value.tokens <= limit) {
      const { part, tokens } = step.value;
      if (outputTokens > 0 && tokens > 0) await this.pause(outputTokens, signal);
      if (signal.aborted) return;
      yield part;
      outputTokens += tokens;
      if (part.type === 'reasoning') reasoningOutputTokens += tokens;
      step = steps.next();
    }
    const inputTokens = await countWords(promptTexts(call), signal);
    if (signal.aborted) return;
    const usage = { inputTokens, outputTokens };
    yield { type: 'usage', usage: reasoningOutputTokens === 0 ? usage : { ...usage, reasoningOutputTokens } };
    const ended = tools.length > 0 ? 'tool_calls' : 'stop';
    const reason = step.done === true ? ended : 'length';
    yield { type: 'finish', reason, raw: reason };
    yield { type: 'complete', last: true };
  }

  /** Waits before the next word. Resolves early when the signal aborts: the caller checks the signal. */
  private async pause(wordsSent: number, signal: AbortSignal): Promise<void> {
    if (this.wordDelayMs > 0) await sleep(this.wordDelayMs, { signal });
    else if (wordsSent % WORDS_OF_A_TURN === 0) await turn();
  }
}

function* stepsOf(call: ChatCall, tools: readonly Tool[]): Generator<Step, undefined> {
  const { reasoning, options } = call;
  if (reasoning !== undefined && reasoning.effort !== 'none') yield* reasoningSteps();
  for (const [index, tool] of tools.entries()) yield* callSteps(tool, index);
  if (tools.length > 0) return;
  const words = replyWords(call);
  for (const text of options.stop === undefined ? words : untilStop(words, options.stop)) {
    yield { part: { type: 'text', text }, tokens: 1 };
  }
}

/** A short text with a signature, so that clients can be tried that send reasoning back. */
function* reasoningSteps(): Generator<Step, undefined> {
  for (const text of wordsOf(REASONING)) yield { part: { type: 'reasoning', text }, tokens: 1 };
  const signature = createHash('sha256').update(REASONING).digest('base64');
  yield { part: { type: 'reasoning', text: '', signature }, tokens: 0 };
}

function* callSteps({ name, parameters }: Tool, index: number): Generator<Step, undefined> {
  const id = newToolCallId();
  yield { part: { type: 'tool_call_start', id, name, index }, tokens: 1 };
  const given = schemaJson(parameters);
  const json = given.startsWith('{') ? given : '{}';
  for (let start = 0; start < json.length; start += PIECE_LENGTH) {
    yield { part: { type: 'tool_call_delta', id, json: json.slice(start, start + PIECE_LENGTH) }, tokens: 1 };
  }
  yield { part: { type: 'tool_call_end', id }, tokens: 0 };
}

function promptTexts({ messages, tools = [] }: ChatCall): readonly string[] {
  const texts = messages.flatMap((message) =>
    typeof message.content === 'string' ? [message.content] : [...textsOf(message)],
  );
  return [...texts, ...tools.map(({ name, description = '' }) => `${name} ${description}`)];
}

/** Returns the words of the answer's text, in the requested format. Each word is created when the caller reads it. */
function replyWords({ messages, options, responseFormat }: ChatCall): Iterable<string> {
  if (responseFormat?.type === 'json_schema') return wordsOf(schemaJson(responseFormat.schema));
  const described = describedContents(messages);
  const words = described === undefined ? replyTo(plainMessages(messages), options.temperature) : wordsOf(described);
  return responseFormat?.type === 'json' ? wordsOf(JSON.stringify({ answer: [...words].join('') })) : words;
}

/** The number of UTF-16 units to read of a message. */
const MAX_LENGTH_READ = 64 * 1024;
const MIN_WORD_LENGTH = 4;
const WORDS = /[\p{L}\p{N}]+/gu;
/** The places where the parts of a name such as `getWeather` meet. */
const HUMPS = /(?<=[a-z\d])(?=[A-Z])/;

/**
 * Returns the tools that the stand-in calls. With the choice `auto`, these are the tools with a word of four letters or more in
 * their name that occurs in the last message of the user: the first such tool, or all of them if parallel calls are requested. After
 * the result of a tool it calls none. With `required` it calls at least the first tool, and with a named tool this one, always.
 */
function calledTools({ tools, toolChoice = 'auto', parallelToolCalls, messages }: ChatCall): readonly Tool[] {
  if (tools === undefined || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object') return tools.filter(({ name }) => name === toolChoice.tool);
  if (toolChoice === 'auto' && messages.at(-1)?.role === 'tool') return [];
  const words = wordsOfUser(messages);
  const named = tools.filter(({ name }) => wordsOfName(name).some((word) => words.has(word)));
  const wanted = named.length === 0 && toolChoice === 'required' ? tools : named;
  return named.length > 0 && parallelToolCalls === true ? named : wanted.slice(0, 1);
}

function wordsOfUser(messages: readonly Message[]): ReadonlySet<string> {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last?.role !== 'user') return new Set();
  const text = joinedTexts(last.content).slice(0, MAX_LENGTH_READ).toLowerCase();
  return new Set(text.match(WORDS) ?? []);
}

function wordsOfName(name: string): readonly string[] {
  const words = name.split(/[_-]/).flatMap((part) => [part, ...part.split(HUMPS)]);
  return words.filter(({ length }) => length >= MIN_WORD_LENGTH).map((word) => word.toLowerCase());
}

/**
 * Returns the answer to results of tools, or to images of the user, if the last message has any. The answer contains each result,
 * and the type and the size of each image.
 */
function describedContents(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  if (last?.role === 'tool') return describedResults(last, messages);
  if (last?.role !== 'user') return undefined;
  const images = [...imagesOf(last)];
  return images.length === 0 ? undefined : images.map(describedImage).join(' ');
}

function describedResults({ content: results }: ToolMessage, messages: readonly Message[]): string {
  const names = new CalledNames();
  for (const message of messages) names.add(message);
  return results
    .map((result) => {
      const { content, isError } = result;
      const images = typeof content === 'string' ? [] : content.filter((part) => part.type === 'image');
      const what = isError === true ? 'failed with' : 'returned';
      const text = `The tool ${names.of(result)} ${what}: ${joinedTexts(content)}`;
      return [text, ...images.map(describedImage)].join('\n');
    })
    .join('\n');
}

function describedImage({ url, mediaType }: ImageContent): string {
  const inline = inlineImage({ url });
  if (inline === undefined)
    return `I got an image of the type ${mediaType ?? 'unknown'} at a URL, which I do not fetch.`;
  const bytes = Buffer.byteLength(inline.base64, 'base64');
  return `I got an image of the type ${inline.mediaType} with ${bytes} bytes.`;
}

/**
 * Yields a text up to the stop text that is the first to be whole, wherever the text is divided. Holds back the end of the text as long as it can be the beginning of a stop
 * text.
 *
 * @param pieces the text, in pieces.
 */
export function* untilStop(pieces: Iterable<string>, stops: readonly string[]): Generator<string, void> {
  const bufferLength = Math.max(...stops.map(({ length }) => length)) - 1;
  let buffer = '';
  for (const piece of pieces) {
    buffer += piece;
    const end = firstStop(buffer, stops);
    const sure = end === Infinity ? buffer.length - bufferLength : end;
    if (sure > 0) yield buffer.slice(0, sure);
    if (end !== Infinity) return;
    buffer = buffer.slice(Math.max(sure, 0));
  }
  if (buffer !== '') yield buffer;
}

/** Returns where the stop text begins that ends first, or `Infinity`. */
function firstStop(text: string, stops: readonly string[]): number {
  const found = stops.map((stop) => ({ start: text.indexOf(stop), length: stop.length }));
  const ends = found.filter(({ start }) => start !== -1).map(({ start, length }) => ({ start, end: start + length }));
  const [first] = ends.sort((one, other) => one.end - other.end || one.start - other.start);
  return first?.start ?? Infinity;
}
