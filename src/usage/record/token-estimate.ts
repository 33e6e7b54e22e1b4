import { estimateTokenCount } from 'tokenx';
import type { ChatMessage } from '../../upstreams/contract/chat-call.js';

/** The number of UTF-16 units to read of a prompt. Reading this number takes about 0.2 ms. */
const SAMPLE_LENGTH = 2_048;

/**
 * Estimates the tokens of a text from its beginning. The estimate is within about 10 % of the tokenizers of large
 * providers. These tokenizers differ as much from each other, and each needs 70 MB.
 */
export function estimateTokens(sample: string, length: number): number {
  if (sample === '') return 0;
  return Math.max(1, Math.round((estimateTokenCount(sample) * length) / sample.length));
}

/** What the estimate needs of a prompt, so that the prompt itself is not kept. */
export interface PromptSample {
  /** The beginning of the prompt, at most 2,048 UTF-16 units. */
  readonly text: string;
  /** The length of the whole prompt, in UTF-16 units. */
  readonly length: number;
}

export function samplePrompt(messages: readonly ChatMessage[]): PromptSample {
  let text = '';
  let length = 0;
  for (const { content } of messages) {
    const room = SAMPLE_LENGTH - text.length;
    if (room > 0) text += content.length > room ? copyOf(content.slice(0, room)) : content;
    length += content.length;
  }
  return { text, length };
}

/** Estimates the tokens of a prompt: for the reservation before a stream, and for the ledger if the provider reports none. */
export function estimatePromptTokens(messages: readonly ChatMessage[]): number {
  const { text, length } = samplePrompt(messages);
  return estimateTokens(text, length);
}

/** Copies a part of a text, because V8 keeps the whole text as long as a part of it exists. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}
