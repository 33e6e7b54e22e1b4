import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { money } from '../format/money.js';
import { isAlmostUsedUp, percentage, resetText, usedPart } from '../format/used-budget.js';
import { Notice } from '../parts/blocks.js';
import { Gauge } from '../usage/gauge.js';

/** The budget of a key in a table: what is spent or reserved of which amount. */
export function KeyBudget({ budget }: { readonly budget: BudgetState | undefined }) {
  if (budget === undefined) return <span class="none">–</span>;
  const { amount, spent, reserved, currency, per } = budget;
  return (
    <>
      {money(spent + reserved, currency)} of {money(amount, currency)} per {per}
      <Gauge {...usedPart(budget)} />
    </>
  );
}

interface BudgetWarningsProps {
  readonly keys: readonly ListedApiKey[];
  /** The budgets by the id of the key. `undefined` when they cannot be read. */
  readonly budgets: ReadonlyMap<string, BudgetState> | undefined;
}

/** Warns of the budgets that are almost used up. */
export function BudgetWarnings({ keys, budgets }: BudgetWarningsProps) {
  const warnings = keys.flatMap(({ id, name }) => {
    const budget = budgets?.get(id);
    if (budget === undefined || !isAlmostUsedUp(budget)) return [];
    const used = percentage(usedPart(budget).share);
    return `${used} of the budget of the key “${name}” is spent or reserved. Requests above the budget are refused until ${resetText(budget.resetsAt)}.`;
  });
  if (warnings.length === 0) return null;
  return (
    <Notice>
      {warnings.map((warning) => (
        <div key={warning}>{warning}</div>
      ))}
    </Notice>
  );
}
