const HIGH_SURROGATES = /[\ud800-\udbff]$/;

/** The text with at most `length` UTF-16 units; a longer one ends with `…` and not in the middle of a code point. */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(HIGH_SURROGATES, '')}…`;
}
