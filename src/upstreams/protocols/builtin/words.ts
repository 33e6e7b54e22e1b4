import { setImmediate as turn } from 'node:timers/promises';

/** The maximum length of one word, in UTF-16 units. A longer run of characters counts as several words. */
const MAX_PIECE_LENGTH = 256;
/** The number of UTF-16 units that {@link countWords} reads before other work can run. This takes about a millisecond. */
const COUNTED_AT_ONCE = 128 * 1024;

/**
 * Yields the words of a text, each with the white space after it. White space at the start of the text belongs to the first
 * word. The joined pieces are the original text, and no code point is split. Each piece is created when the caller reads
 * it, so a text of megabytes needs no additional memory.
 */
export function* wordsOf(text: string): Generator<string, void> {
  let start = 0;
  while (start < text.length) {
    const end = endOfPiece(text, start);
    yield text.slice(start, end);
    start = end;
  }
}

/**
 * Counts the words of all texts. Other work of the process can run during the count. The count stops early when the signal
 * aborts.
 */
export async function countWords(texts: readonly string[], signal: AbortSignal): Promise<number> {
  let count = 0;
  let counted = 0;
  for (const text of texts) {
    for (let start = 0; start < text.length; start += COUNTED_AT_ONCE) {
      const end = Math.min(text.length, start + COUNTED_AT_ONCE);
      count += countWordsBetween(text, start, end);
      counted += end - start;
      if (counted < COUNTED_AT_ONCE) continue;
      counted = 0;
      await turn();
      if (signal.aborted) return count;
    }
  }
  return count;
}

/** Counts the words that begin between two positions of a text. */
function countWordsBetween(text: string, start: number, end: number): number {
  let count = 0;
  let isInWord = start > 0 && !isWhiteSpace(text.charCodeAt(start - 1));
  for (let index = start; index < end; index += 1) {
    const isSpace = isWhiteSpace(text.charCodeAt(index));
    if (!isSpace && !isInWord) count += 1;
    isInWord = !isSpace;
  }
  return count;
}

function endOfPiece(text: string, start: number): number {
  const limit = Math.min(text.length, start + MAX_PIECE_LENGTH);
  let end = start;
  if (start === 0) end = endOfWhiteSpace(text, end, limit);
  while (end < limit && !isWhiteSpace(text.charCodeAt(end))) end += 1;
  end = endOfWhiteSpace(text, end, limit);
  return end === limit && isBetweenHalves(text, end) ? end - 1 : end;
}

function endOfWhiteSpace(text: string, start: number, limit: number): number {
  let end = start;
  while (end < limit && isWhiteSpace(text.charCodeAt(end))) end += 1;
  return end;
}

/** Whether `index` is between the two halves of a surrogate pair. */
function isBetweenHalves(text: string, index: number): boolean {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff;
}

/** Whether a UTF-16 unit matches `\s` of a regular expression. */
function isWhiteSpace(unit: number): boolean {
  if (unit > 0x20 && unit < 0xa0) return false;
  if (unit <= 0x20) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return (
    unit === 0xa0 ||
    unit === 0x1680 ||
    (unit >= 0x2000 && unit <= 0x200a) ||
    unit === 0x2028 ||
    unit === 0x2029 ||
    unit === 0x202f ||
    unit === 0x205f ||
    unit === 0x3000 ||
    unit === 0xfeff
  );
}
