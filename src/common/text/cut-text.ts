const HIGH_SURROGATES = /[\ud800-\udbff]$/;

/**
 * Returns the text with at most `length` UTF-16 units. A longer text is cut and ends with `…`, but never inside a code
 * point.
 */
export function cutText(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(HIGH_SURROGATES, '')}…`;
}
