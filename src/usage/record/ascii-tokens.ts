const ASCII_LENGTH = 128;
const CHARS_PER_TOKEN = 7;
const PUNCTUATION_CHARS_PER_TOKEN = 6;
const DIGITS_PER_TOKEN = 3;
const MAX_SHORT = 3;
const MAX_LOWERCASE_WORD = 8;

const LINE_FEED = 0x0a;
/** A text consists of runs of white space, runs of punctuation, and runs of the other three, which are words. */
const LOWERCASE = 0;
const DIGIT = 1;
const OTHER = 2;
const SPACE = 3;
const PUNCTUATION = 4;

const CLASSES = Uint8Array.from({ length: ASCII_LENGTH }, (_, code) => classOf(String.fromCharCode(code)));

/**
 * Estimates the tokens of an ASCII text exactly as `tokenx` does, in one pass and without memory. The library splits the text by
 * a regular expression, which for a usual prompt costs as much as sending its request.
 *
 * @returns `undefined` for a text with other characters.
 */
export function estimateAsciiTokens(text: string): number | undefined {
  let count = 0;
  let before = SPACE;
  for (let start = 0; start < text.length;) {
    const first = text.charCodeAt(start);
    if (first >= ASCII_LENGTH) return undefined;
    const run = CLASSES[first] ?? OTHER;
    let end = start + 1;
    let isUniform = true;
    for (; end < text.length; end += 1) {
      const code = text.charCodeAt(end);
      if (code >= ASCII_LENGTH) return undefined;
      const next = CLASSES[code] ?? OTHER;
      if (next === run) continue;
      if (run >= SPACE || next >= SPACE) break;
      isUniform = false;
    }
    const length = end - start;
    if (run === SPACE) count += tokensOfSpace(text, start, end, before);
    else if (run === PUNCTUATION) count += length <= MAX_SHORT ? 1 : Math.ceil(length / PUNCTUATION_CHARS_PER_TOKEN);
    else count += tokensOfWord(length, isUniform ? run : OTHER);
    before = run;
    start = end;
  }
  return count;
}

/** A line end that is followed by more white space counts, and so does any other line end unless it follows punctuation. */
function tokensOfSpace(text: string, start: number, end: number, before: number): number {
  for (let index = start; index < end; index += 1) {
    if (text.charCodeAt(index) === LINE_FEED) return index === end - 1 && before === PUNCTUATION ? 0 : 1;
  }
  return 0;
}

function tokensOfWord(length: number, kind: number): number {
  if (kind === DIGIT) return Math.ceil(length / DIGITS_PER_TOKEN);
  if (length <= MAX_SHORT || (kind === LOWERCASE && length <= MAX_LOWERCASE_WORD)) return 1;
  return Math.ceil(length / CHARS_PER_TOKEN);
}

function classOf(character: string): number {
  if (/\s/.test(character)) return SPACE;
  if (/[.,!?;(){}[\]<>:/\\|@#$%^&*+=`~_"-]/.test(character)) return PUNCTUATION;
  if (/[a-z]/.test(character)) return LOWERCASE;
  return /\d/.test(character) ? DIGIT : OTHER;
}
