import { setImmediate as turn } from 'node:timers/promises';

/** A word with the white space around it, at most 256 UTF-16 units. A longer run of characters is several pieces. */
const PIECE = /\s{1,64}\S{0,64}\s{0,64}|\S{1,64}\s{0,64}/gu;
/** How many words {@link countWords} counts before other work can run. This takes about a millisecond. */
const COUNTED_AT_ONCE = 16_384;

/**
 * Yields the words of a text, each with the white space after it. White space at the start of the text belongs to the first
 * word. The joined pieces are the original text, and no code point is split. Each piece is created when the caller reads
 * it, so a text of megabytes needs no additional memory.
 */
export function* wordsOf(text: string): Generator<string, void> {
  for (const [piece] of text.matchAll(PIECE)) yield piece;
}

/**
 * Counts the words of all texts. Other work of the process can run during the count. The count stops early when the signal
 * aborts.
 */
export async function countWords(texts: readonly string[], signal: AbortSignal): Promise<number> {
  let count = 0;
  for (const text of texts) {
    const words = text.matchAll(/\S+/g);
    while (words.next().done !== true) {
      count += 1;
      if (count % COUNTED_AT_ONCE !== 0) continue;
      await turn();
      if (signal.aborted) return count;
    }
  }
  return count;
}
