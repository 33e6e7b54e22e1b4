import { WARNING_SHARE } from '../../usage/budgets/budget-events.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';

/** The used part of a budget, spent or reserved, from 0 to 1, and the color of its bar. */
export function usedPart({ amount, spent, reserved }: BudgetState): { readonly share: number; readonly tone: string } {
  const share = Math.min(1, (spent + reserved) / amount);
  return { share, tone: share >= 1 ? 'red' : share >= WARNING_SHARE ? 'amber' : 'blue' };
}

export function isAlmostUsedUp(budget: BudgetState): boolean {
  return usedPart(budget).share >= WARNING_SHARE;
}

/** Rounds down, so that 100 % means that nothing is left. */
export function percentage(share: number): string {
  return `${Math.floor(share * 100)} %`;
}

/** When a budget begins again. */
export function resetText(resetsAt: Date): string {
  return `${resetsAt.toISOString().slice(0, 10)}, at midnight UTC`;
}
