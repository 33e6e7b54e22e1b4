import { estimateTokenCount } from 'tokenx';
import type { ChatMessage } from '../../upstreams/chat-call.js';

/** As much of a prompt as is looked at, in UTF-16 units. */
const SAMPLE_LENGTH = 4_096;

/**
 * Tokens of a text of which only the beginning is at hand, as the whole goes on like it. Within some 10 % of the tokenizers
 * of large vendors, which differ as much among themselves and take 70 MB each.
 */
export function estimateTokens(sample: string, length: number): number {
  if (sample === '') return 0;
  return Math.max(1, Math.round((estimateTokenCount(sample) * length) / sample.length));
}

export function estimatePromptTokens(messages: readonly ChatMessage[]): number {
  let sample = '';
  let length = 0;
  for (const { content } of messages) {
    if (sample.length < SAMPLE_LENGTH) sample += content.slice(0, SAMPLE_LENGTH - sample.length);
    length += content.length;
  }
  return estimateTokens(sample, length);
}
