import { MICROS, type ModelConfig, type TierConfig } from '../../../plugin-api/core/config.js';
import { type BudgetState, costBound, isPriced } from '../../../plugin-api/core/usage.js';

/** The tokens of a short question. */
const SHORT_PROMPT = 20;

/**
 * Why an account cannot use a model now, in a few words. `undefined`: it can.
 *
 * @param budget what is left of the budget of the tier. `undefined`: there is none, or it cannot be read.
 */
export function refusalOf(model: ModelConfig, tier: TierConfig, budget: BudgetState | undefined): string | undefined {
  if (tier.budget === undefined) return undefined;
  if (!isPriced(model)) return 'no price, so not within your budget';
  if (budget === undefined) return undefined;
  const left = Math.round((budget.amount - budget.spent - budget.reserved) * MICROS);
  return costBound(model, SHORT_PROMPT, 1, true).microsOf(1) > left ? 'above the rest of your budget' : undefined;
}
