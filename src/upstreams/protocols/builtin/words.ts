import { setImmediate as turn } from 'node:timers/promises';

/** A word with the white space around it, at most 256 UTF-16 units. A longer run of characters is several pieces. */
const PIECE = /\s{1,64}\S{0,64}\s{0,64}|\S{1,64}\s{0,64}/gu;
const WHITE_SPACE: ReadonlySet<number> = new Set(
  Array.from(
    '\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff',
    (character) => character.charCodeAt(0),
  ),
);
/** The number of UTF-16 units that {@link countWords} reads before other work can run. This takes about a millisecond. */
const COUNTED_AT_ONCE = 128 * 1024;

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
  let counted = 0;
  for (const text of texts) {
    let isInWord = false;
    for (let index = 0; index < text.length; index += 1) {
      const isSpace = WHITE_SPACE.has(text.charCodeAt(index));
      if (!isSpace && !isInWord) count += 1;
      isInWord = !isSpace;
      counted += 1;
      if (counted % COUNTED_AT_ONCE !== 0) continue;
      await turn();
      if (signal.aborted) return count;
    }
  }
  return count;
}
