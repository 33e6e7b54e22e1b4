/**
 * Rounds a number of tokens to a whole number that every counter can store exactly. Returns `undefined` for a negative or
 * non-finite number, which a custom ledger may return.
 */
export function wholeTokens(tokens: number): number | undefined {
  if (!Number.isFinite(tokens) || tokens < 0) return undefined;
  return Math.min(Math.round(tokens), Number.MAX_SAFE_INTEGER);
}
