const DECIMALS = [2, 4] as const;
/** Costs have whole millionths. */
const MAX_DECIMALS = 6;

/**
 * An amount of money as text, as all pages and the terminal show it: with two decimals from one unit on, and below that with 2, 4 or
 * 6, the fewest that tell the amount.
 */
export function money(amount: number, currency: string): string {
  const decimals = DECIMALS.find((count) => isShown(amount, count)) ?? MAX_DECIMALS;
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, ...digits }).format(amount);
}

/** Whether the decimals tell the amount exactly, or with at least two digits. */
function isShown(amount: number, decimals: number): boolean {
  const scaled = amount * 10 ** decimals;
  return amount >= 10 ** (2 - decimals) || Math.abs(scaled - Math.round(scaled)) < 1e-6;
}
