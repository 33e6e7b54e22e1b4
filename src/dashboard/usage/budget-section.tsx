import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { money } from '../format/money.js';
import { isAlmostUsedUp, percentage, resetText, usedPart } from '../format/used-budget.js';
import { Notice, Section } from '../parts/blocks.js';
import { Table } from '../parts/table.js';
import type { CostDecimals } from './sum-texts.js';
import { Gauge } from './gauge.js';

interface BudgetSectionProps {
  /** The budget of the account. `undefined`: the account has no budget, or the budget cannot be read. */
  readonly budget: BudgetState | undefined;
  readonly decimals: CostDecimals;
}

/** The amounts of a budget that the page shows. */
export function budgetCosts(budget: BudgetState | undefined): readonly (readonly [currency: string, cost: number])[] {
  if (budget === undefined) return [];
  const { amount, spent, reserved, currency } = budget;
  return [amount, spent, reserved].map((value) => [currency, value]);
}

/** Shows the budget of the account: what is spent, what running requests have reserved, and when the budget begins again. */
export function BudgetSection({ budget, decimals }: BudgetSectionProps) {
  if (budget === undefined) return null;
  const { amount, spent, reserved, currency, per, resetsAt } = budget;
  const amountOf = (value: number) => money(value, currency, decimals.get(currency));
  const { share, tone } = usedPart(budget);
  const reset = resetText(resetsAt);
  return (
    <Section id="budget" title="Budget">
      <Notice>
        {isAlmostUsedUp(budget)
          ? `${percentage(share)} of the budget is spent or reserved. Requests above the budget are refused until ${reset}.`
          : undefined}
      </Notice>
      <Table
        caption="Budget of the account"
        class="limits"
        rows={[budget]}
        columns={[
          { title: 'Budget', cell: () => `${amountOf(amount)} per ${per}` },
          {
            title: 'Spent',
            isNumber: true,
            cell: () => (
              <>
                {amountOf(spent)}
                <Gauge share={share} tone={tone} />
              </>
            ),
          },
          { title: 'Reserved', isNumber: true, cell: () => amountOf(reserved) },
          { title: 'Remaining', isNumber: true, cell: () => amountOf(Math.max(0, amount - spent - reserved)) },
          { title: 'Resets', cell: () => reset },
        ]}
      />
    </Section>
  );
}
