/**
 * Rounds a number of tokens to one that every counter can hold exactly. `undefined` for a negative or non-finite number, which
 * the ledger of a team may return.
 */
export function wholeTokens(tokens: number): number | undefined {
  if (!Number.isFinite(tokens) || tokens < 0) return undefined;
  return Math.min(Math.round(tokens), Number.MAX_SAFE_INTEGER);
}
