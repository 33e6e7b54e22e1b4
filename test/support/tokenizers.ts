import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import llama3 from 'llama3-tokenizer-js';

const PLAIN_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

/** Real tokenizers, which count texts as providers do. */
export const TOKENIZERS: Readonly<Record<string, (text: string) => number>> = {
  o200k: (text) => countTokens(text, PLAIN_TEXT),
  llama3: (text) => llama3.encode(text, { bos: false, eos: false }).length,
};

let last = { text: '', most: 0 };

/** Returns the highest count of the tokenizers. Keeps the last count, because a long text takes a second. */
export function mostTokens(text: string): number {
  if (text !== last.text) last = { text, most: Math.max(...Object.values(TOKENIZERS).map((count) => count(text))) };
  return last.most;
}
