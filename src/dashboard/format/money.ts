const DECIMALS = [2, 4, 6] as const;
/** Costs have whole millionths. */
const MAX_DECIMALS = 6;

/**
 * The smallest number of decimals with which all amounts can be told apart from zero: 2, 4 or 6. A column with one number of
 * decimals is easy to compare.
 */
export function decimalsFor(amounts: Iterable<number>): number {
  const all = [...amounts];
  return DECIMALS.find((decimals) => all.every((amount) => isShown(amount, decimals))) ?? MAX_DECIMALS;
}

/** An amount of money as text. */
export function money(amount: number, currency: string, decimals = decimalsFor([amount])): string {
  const digits = { minimumFractionDigits: decimals, maximumFractionDigits: decimals };
  return new Intl.NumberFormat('en-US', { style: 'currency', currency, ...digits }).format(amount);
}

function isShown(amount: number, decimals: number): boolean {
  const scaled = amount * 10 ** decimals;
  return amount >= 10 ** (2 - decimals) || Math.abs(scaled - Math.round(scaled)) < 1e-6;
}
