import { Steps } from '../../platform/common/event-loop/event-loop-turns.js';
import { imagesOf, type ConversationRequest, type ImageContent } from '../contract/conversation.js';
import { TokenScan } from './token-scan.js';

/** What counts for the tokens of a prompt: everything that a provider puts in front of the answer. */
export type PromptContents = Pick<ConversationRequest, 'messages' | 'tools' | 'response_format'>;

/** The tokens of a prompt. */
export interface PromptTokens {
  /** About as many as a provider counts. */
  readonly estimated: number;
  /** As many as a provider counts at most: see {@link promptTokens}. */
  readonly atMost: number;
}

/** Providers mark the beginning and the end of each message. */
const TOKENS_BETWEEN_MESSAGES = 3;
const MOST_TOKENS_PER_MESSAGE = 6;
/** Providers explain to the model how to call tools. The longest known explanation has 530 tokens. */
const MOST_TOKENS_OF_EXPLANATION = 600;
/** A tokenizer of a provider makes at most so many times the estimated tokens of a text. */
export const ESTIMATE_MARGIN = 2;
/** The scan of so many characters takes about half a millisecond. */
const SLICE = 64 * 1024;
/** Longer prompts are scanned in several turns of the event loop. */
const SLICES_AT_ONCE = 2;

/** The end of a text, between the pieces. */
const END = '';

interface Known extends Omit<PromptContents, 'messages'> {
  readonly tokens: PromptTokens | Promise<PromptTokens>;
}

/** The tokens of the prompts of running requests. Copies of a request have the same list of messages. */
const known = new WeakMap<PromptContents['messages'], Known>();

/**
 * Returns the tokens of a prompt. One request counts its prompt once. A long prompt is counted in steps, so that other requests can
 * be served between them.
 *
 * The estimate follows two real tokenizers, see {@link TokenScan}. At most, a text has twice as many tokens, and never more than
 * its bytes in UTF-8, because tokenizers fall back to bytes. Messages, tools and images add the most that large providers count.
 */
export function promptTokens(prompt: PromptContents): PromptTokens | Promise<PromptTokens> {
  const found = knownTokens(prompt);
  if (found !== undefined) return found;
  const counting = countTokens(prompt);
  for (let slice = 0; slice < SLICES_AT_ONCE; slice += 1) {
    const { done, value } = counting.next();
    if (done === true) return remember(prompt, value);
  }
  return remember(prompt, countLater(prompt, counting));
}

/** Returns the same at once. A prompt of 1 MiB that is not known yet blocks the event loop for about 5 ms. */
export function promptTokensNow(prompt: PromptContents): PromptTokens {
  const found = knownTokens(prompt);
  if (found !== undefined && !(found instanceof Promise)) return found;
  const counting = countTokens(prompt);
  for (;;) {
    const { done, value } = counting.next();
    if (done === true) return remember(prompt, value);
  }
}

function knownTokens({ messages, tools, response_format: format }: PromptContents): Known['tokens'] | undefined {
  const found = known.get(messages);
  return found?.tools === tools && found?.response_format === format ? found?.tokens : undefined;
}

async function countLater(prompt: PromptContents, counting: Generator<undefined, PromptTokens>): Promise<PromptTokens> {
  const steps = new Steps();
  for (;;) {
    if (steps.isOver) await steps.next();
    const { done, value } = counting.next();
    if (done === true) return remember(prompt, value);
  }
}

function remember<T extends Known['tokens']>({ messages, tools, response_format }: PromptContents, tokens: T): T {
  known.set(messages, { tools, response_format, tokens });
  return tokens;
}

/** Yields after each slice. */
function* countTokens(prompt: PromptContents): Generator<undefined, PromptTokens> {
  const { messages, tools = [] } = prompt;
  const scan = new TokenScan();
  let bytes = 0;
  let sliced = 0;
  for (const text of piecesOf(prompt)) {
    if (text === END) scan.endText();
    for (let start = 0; start < text.length; start += SLICE) {
      const end = Math.min(text.length, start + SLICE);
      scan.add(text, start, end);
      bytes += Buffer.byteLength(text.slice(start, end));
      sliced += end - start;
      if (sliced < SLICE) continue;
      sliced = 0;
      yield;
    }
  }
  let estimated = scan.tokens;
  let atMost = Math.min(bytes, ESTIMATE_MARGIN * scan.tokens);
  for (const message of messages) {
    for (const image of imagesOf(message)) {
      estimated += estimateImageTokens(image);
      atMost += maxImageTokens(image);
    }
  }
  estimated += TOKENS_BETWEEN_MESSAGES * Math.max(0, messages.length - 1);
  atMost += MOST_TOKENS_PER_MESSAGE * (messages.length + tools.length);
  if (tools.length > 0 || prompt.response_format !== undefined) atMost += MOST_TOKENS_OF_EXPLANATION;
  return { estimated, atMost };
}

/**
 * Yields every text that is sent to a provider: contents, names, descriptions, schemas, and the opaque state of providers. After each
 * text follows an {@link END}.
 */
function* piecesOf({ messages, tools = [], response_format: format }: PromptContents): Generator<string, void> {
  for (const { content } of messages) {
    if (typeof content === 'string') yield* [content, END];
    else for (const part of content) for (const text of textsOfPart(part)) yield* [text ?? '', END];
  }
  for (const { name, description = '', parameters } of tools) {
    yield* [name, END, description, END];
    yield* piecesOfJson(parameters);
    yield END;
  }
  if (format?.type !== 'json_schema') return;
  yield* [format.name, END, format.description ?? '', END];
  yield* piecesOfJson(format.schema);
}

type Part = Exclude<ConversationRequest['messages'][number]['content'], string>[number];

function textsOfPart(part: Part): readonly (string | undefined)[] {
  if ('toolCallId' in part) {
    if (typeof part.content === 'string') return [part.content];
    return part.content.map((content) => (content.type === 'text' ? content.text : undefined));
  }
  switch (part.type) {
    case 'text':
      return [part.text];
    case 'reasoning':
      return [part.text, part.signature, part.encrypted];
    case 'tool_call':
      return [part.name, part.json, part.signature];
    case 'image':
      return [];
  }
}

/** Yields the JSON of a value piece by piece, because the JSON of a whole schema could block the event loop. */
function* piecesOfJson(value: unknown): Generator<string, void> {
  if (typeof value === 'string') {
    for (let start = 0; start < value.length; start += SLICE) yield JSON.stringify(value.slice(start, start + SLICE));
    yield ',';
  } else if (typeof value !== 'object' || value === null) {
    yield `${String(value)},`;
  } else if (Array.isArray(value)) {
    yield '[';
    for (const item of value as readonly unknown[]) yield* piecesOfJson(item);
    yield '],';
  } else {
    yield '{';
    for (const [name, member] of Object.entries(value)) {
      yield `${JSON.stringify(name)}:`;
      yield* piecesOfJson(member);
    }
    yield '},';
  }
}

/** A JPEG or PNG of this many bytes has about 750 pixels, which large providers count as one token. */
const BYTES_PER_TOKEN = 128;
/** Large providers count at least and usually at most this many tokens for an image. They scale larger images down. */
const LEAST = 85;
const MOST = 1_600;

/**
 * Providers scale images down before they count them, so an image has a highest count at each of them. The highest ones that were
 * found (2026-11-26): 4,784 for Claude, which knows no detail, and 14,364 for models of OpenAI that keep the size without a detail.
 */
const BOUND_OF_DETAIL = 5_000;
const BOUND = 15_000;

/**
 * Estimates the tokens of an image from its bytes, because its pixels are not decoded: one token for 128 bytes, at least 85 and
 * at most 1,600. An image at a URL counts 1,600, and an image with the detail `low` counts 85.
 */
function estimateImageTokens({ url, detail }: Pick<ImageContent, 'url' | 'detail'>): number {
  if (detail === 'low') return LEAST;
  if (!url.startsWith('data:')) return MOST;
  const base64Length = url.length - url.indexOf(',') - 1;
  return Math.min(MOST, Math.max(LEAST, Math.round((base64Length * 3) / 4 / BYTES_PER_TOKEN)));
}

/** Returns the most tokens that a large provider counts for an image. Its bytes say nothing: a flat picture of any size is small. */
function maxImageTokens({ detail }: Pick<ImageContent, 'detail'>): number {
  return detail === 'low' || detail === 'high' ? BOUND_OF_DETAIL : BOUND;
}
