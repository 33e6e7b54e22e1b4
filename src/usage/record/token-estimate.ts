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

/** Estimates the tokens of a prompt: for the reservation before a stream, and for the ledger if the provider reports none. */
export function estimatePromptTokens(messages: readonly ChatMessage[]): number {
  let sample = '';
  let length = 0;
  for (const { content } of messages) {
    if (sample.length < SAMPLE_LENGTH) sample += content.slice(0, SAMPLE_LENGTH - sample.length);
    length += content.length;
  }
  return estimateTokens(sample, length);
}
