import { utcDay } from '../../common/utc-day.js';
import { periodOf, type Budget, type BudgetPeriod } from '../../config/limits/budget.js';

/** An account, or one API key of the account with the keys that it replaced. */
export interface BudgetOwner {
  readonly accountId: string;
  /** The first key of a chain of rotated keys. `undefined`: the whole account. */
  readonly key: string | undefined;
}

/** A budget in the current period. Days are `YYYY-MM-DD` in UTC. */
export interface CurrentBudget extends BudgetOwner {
  readonly micros: number;
  readonly per: BudgetPeriod;
  readonly from: string;
  readonly until: string;
  readonly resetsAt: number;
}

/** Returns the budget in the period of this moment, in milliseconds since 1970. */
export function currentBudget({ micros, per }: Budget, owner: BudgetOwner, now: number): CurrentBudget {
  const { from, until } = periodOf(per, now);
  return { ...owner, micros, per, from: utcDay(from), until: utcDay(until), resetsAt: until };
}
