/** The period after which a budget begins again: a calendar day or a calendar month in UTC. */
export type BudgetPeriod = 'day' | 'month';

/** How much money may be spent in each period. */
export interface Budget {
  /** In whole millionths of the unit of the configured currency. */
  readonly micros: number;
  readonly per: BudgetPeriod;
}

/** The largest amount of a budget, in units of the currency. In millionths, the number is still exact. */
export const MAX_BUDGET = 1_000_000_000;
export const MICROS = 1_000_000;

/** Returns the beginning of the period of this moment, and the beginning of the next period, in milliseconds since 1970. */
export function periodOf(per: BudgetPeriod, moment: number): { readonly from: number; readonly until: number } {
  const date = new Date(moment);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return per === 'day'
    ? { from: Date.UTC(year, month, day), until: Date.UTC(year, month, day + 1) }
    : { from: Date.UTC(year, month), until: Date.UTC(year, month + 1) };
}
