import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import llama3 from 'llama3-tokenizer-js';

const PLAIN_TEXT = { allowedSpecial: new Set<string>(), disallowedSpecial: new Set<string>() };

/** Real tokenizers, which count texts as providers do. */
export const TOKENIZERS: Readonly<Record<string, (text: string) => number>> = {
  o200k: (text) => countTokens(text, PLAIN_TEXT),
  llama3: (text) => llama3.encode(text, { bos: false, eos: false }).length,
};

/** Returns the highest count of the tokenizers. */
export function mostTokens(text: string): number {
  return Math.max(...Object.values(TOKENIZERS).map((count) => count(text)));
}
