import { type BudgetState, WARNING_SHARE } from '../../../plugin-api/core/usage.js';
import { money } from '../format/numbers.js';
import { LocalTime } from '../format/times.js';
import { Notice, Section } from '../parts/blocks.js';
import { Table } from '../parts/table.js';

interface BudgetSectionProps {
  /** The budget of the account. `undefined`: the account has no budget, or the budget cannot be read. */
  readonly budget: BudgetState | undefined;
}

/** Shows the budget of the account: what is spent, what running requests have reserved, and when the budget begins again. */
export function BudgetSection({ budget }: BudgetSectionProps) {
  if (budget === undefined) return null;
  const { amount, spent, reserved, currency, per, resetsAt } = budget;
  const amountOf = (value: number) => money(value, currency);
  const share = usedShare(budget);
  const reset = <LocalTime at={resetsAt} />;
  return (
    <Section id="budget" title="Budget">
      <Notice>
        {isAlmostUsedUp(budget) && (
          <>
            {percentage(share)} of the budget is spent or reserved. Requests above the budget are refused until {reset}.
          </>
        )}
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
                <Gauge share={share} warns />
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

/** A budget in a table: what is spent or reserved of which amount, and what is left. */
export function BudgetCell({ budget }: { readonly budget: BudgetState | undefined }) {
  if (budget === undefined) return <span class="none">–</span>;
  const { amount, spent, reserved, currency, per } = budget;
  const left = Math.max(0, amount - spent - reserved);
  return (
    <>
      {money(spent + reserved, currency)} of {money(amount, currency)} per {per}, {money(left, currency)} left
      <Gauge share={usedShare(budget)} warns />
    </>
  );
}

interface GaugeProps {
  /** 0 to 1. */
  readonly share: number;
  /** Whether a large share is a warning, which the color shows. */
  readonly warns?: boolean;
}

/** A bar for a share of something. */
export function Gauge({ share, warns = false }: GaugeProps) {
  const tone = !warns || share < WARNING_SHARE ? 'blue' : share < 1 ? 'amber' : 'red';
  return (
    <svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="share-all" width="100" height="4" />
      <rect class={tone} width={Math.min(100, Math.round(share * 1000) / 10)} height="4" />
    </svg>
  );
}

/** The used part of a budget, spent or reserved, from 0 to 1. */
export function usedShare({ amount, spent, reserved }: BudgetState): number {
  return Math.min(1, (spent + reserved) / amount);
}

export function isAlmostUsedUp(budget: BudgetState): boolean {
  return usedShare(budget) >= WARNING_SHARE;
}

/** Rounds down, so that 100 % means that nothing is left. */
export function percentage(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
