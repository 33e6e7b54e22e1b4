import { estimateTokenCount } from 'tokenx';
import type { Message, Tool } from '../../upstreams/contract/conversation.js';
import { imagesOf, textsOf } from '../../upstreams/contract/message-texts.js';
import { estimateAsciiTokens } from './ascii-tokens.js';
import { estimateImageTokens } from './image-tokens.js';

/** The number of UTF-16 units to read of a prompt. Reading this number takes about 0.2 ms. */
const SAMPLE_LENGTH = 2_048;

/**
 * Estimates the tokens of a text from its beginning. The estimate is within about 10 % of the tokenizers of large
 * providers. These tokenizers differ as much from each other, and each needs 70 MB.
 */
export function estimateTokens(sample: string, length: number): number {
  if (sample === '') return 0;
  const count = estimateAsciiTokens(sample) ?? estimateTokenCount(sample);
  return Math.max(1, Math.round((count * length) / sample.length));
}

/** What the estimate needs of a prompt, so that the prompt itself is not kept. */
export interface PromptSample {
  /** The beginning of the prompt, at most 2,048 UTF-16 units. */
  readonly text: string;
  /** The length of all texts of the prompt, in UTF-16 units. */
  readonly length: number;
  /** The estimated tokens of the images. */
  readonly imageTokens?: number | undefined;
}

/** What counts for the tokens of a prompt. */
export interface PromptContents {
  readonly messages: readonly Message[];
  /** They count by their names, descriptions and schemas. */
  readonly tools?: readonly Tool[] | undefined;
}

export function samplePrompt({ messages, tools = [] }: PromptContents): PromptSample {
  let text = '';
  let length = 0;
  let imageTokens = 0;
  const add = (content: string): void => {
    const room = SAMPLE_LENGTH - text.length;
    if (room > 0) text += content.length > room ? copyOf(content.slice(0, room)) : content;
    length += content.length;
  };
  for (const message of messages) {
    if (typeof message.content === 'string') {
      add(message.content);
      continue;
    }
    for (const content of textsOf(message)) add(content);
    for (const image of imagesOf(message)) imageTokens += estimateImageTokens(image);
  }
  for (const tool of tools) add(textOfTool(tool));
  return { text, length, imageTokens };
}

/** Estimates the tokens of a prompt: for the reservation before a stream, and for the ledger if the provider reports none. */
export function estimatePromptTokens(prompt: PromptContents): number {
  return tokensOfSample(samplePrompt(prompt));
}

export function tokensOfSample({ text, length, imageTokens = 0 }: PromptSample): number {
  return estimateTokens(text, length) + imageTokens;
}

/** The text of each tool, so that one request writes each schema as JSON once. */
const toolTexts = new WeakMap<Tool, string>();

function textOfTool(tool: Tool): string {
  const known = toolTexts.get(tool);
  if (known !== undefined) return known;
  const text = `${tool.name} ${tool.description ?? ''} ${JSON.stringify(tool.parameters)} `;
  toolTexts.set(tool, text);
  return text;
}

/** Copies a part of a text, because V8 keeps the whole text as long as a part of it exists. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
