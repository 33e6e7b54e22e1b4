import type { BudgetState } from '../../usage/budgets/spend-budgets.js';
import { money } from '../format/money.js';
import { Notice } from '../parts/notice.js';
import { Table } from '../parts/table.js';
import { Gauge } from './gauge.js';

/** The share of a budget above which the page shows a warning. */
const WARNING_SHARE = 0.8;

export interface BudgetSectionProps {
  /** The budget of the account. `undefined`: the account has no budget, or the budget cannot be read. */
  readonly budget: BudgetState | undefined;
}

/** Shows the budget of the account: what is spent, what running requests have reserved, and when the budget begins again. */
export function BudgetSection({ budget }: BudgetSectionProps) {
  if (budget === undefined) return null;
  const { amount, spent, reserved, currency, per, resetsAt } = budget;
  const share = Math.min(1, (spent + reserved) / amount);
  const tone = share >= 1 ? 'red' : share >= WARNING_SHARE ? 'amber' : 'blue';
  const reset = `${resetsAt.toISOString().slice(0, 10)}, at midnight UTC`;
  return (
    <section aria-labelledby="budget">
      <h2 id="budget">Budget</h2>
      <Notice>
        {share >= WARNING_SHARE
          ? `${Math.floor(share * 100)} % of the budget is spent or reserved. Requests above the budget are refused until ${reset}.`
          : undefined}
      </Notice>
      <Table
        caption="Budget of the account"
        class="limits"
        rows={[budget]}
        columns={[
          { title: 'Budget', cell: () => `${money(amount, currency)} per ${per}` },
          {
            title: 'Spent',
            isNumber: true,
            cell: () => (
              <>
                {money(spent, currency)}
                <Gauge share={share} tone={tone} />
              </>
            ),
          },
          { title: 'Reserved', isNumber: true, cell: () => money(reserved, currency) },
          { title: 'Remaining', isNumber: true, cell: () => money(Math.max(0, amount - spent - reserved), currency) },
          { title: 'Resets', cell: () => reset },
        ]}
      />
    </section>
  );
}
