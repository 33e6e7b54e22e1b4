const HIGH_SURROGATES = /[\ud800-\udbff]$/;

/**
 * Returns the text with at most `length` UTF-16 units. A longer text is cut and ends with `…`, but never inside a code
 * point.
 */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(HIGH_SURROGATES, '')}…`;
}

/** Characters that nobody sees, and that change the lines or the direction of the text around them. */
const SOME_HIDDEN = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
const ALL_HIDDEN = new RegExp(SOME_HIDDEN, 'gu');

/** Whether the text is one line that looks as it reads: it has no control characters, and none that change the direction of text. */
export function isPlainLine(text: string): boolean {
  return !SOME_HIDDEN.test(text);
}

/** Returns the text without the characters that {@link isPlainLine} does not allow. */
export function toPlainLine(text: string): string {
  return text.replaceAll(ALL_HIDDEN, '');
}

/** Whether the UTF-16 unit is the first half of a character. */
export function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

/** Yields the text in pieces of `length` UTF-16 units, or one more where a piece would end inside a character. The last one may be shorter. */
export function* textPieces(text: string, length: number): Generator<string, void> {
  for (let from = 0; from < text.length;) {
    const to = from + length;
    const end = isHighSurrogate(text.charCodeAt(to - 1)) ? to + 1 : to;
    yield text.slice(from, end);
    from = end;
  }
}

/** Whether the UTF-16 unit is the second half of a character. */
export function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit < 0xe000;
}

/** Returns the text without the slashes at its end, so that a path can be appended. */
export function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}
