import { LIMIT_NAMES, LIMITS, type LimitWindow, type TierConfig } from '../../../plugin-api/core/config.js';
import type { LimitState, LimitStates } from '../../../plugin-api/core/throttling.js';
import { type BudgetState, WARNING_SHARE } from '../../../plugin-api/core/usage.js';
import { Notice, Section } from '../parts/blocks.js';
import { money, LocalTime, count, limitLabel, waitingTime } from '../numbers-and-times.js';
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

interface LimitsSectionProps {
  /** The default is for the own account. */
  readonly heading?: string;
  readonly tier: TierConfig;
  /** The current counts. `undefined` when the limit store does not answer. */
  readonly state: LimitStates | undefined;
}

interface LimitLine {
  readonly name: string;
  readonly limit: number | undefined;
  readonly remaining: number | undefined;
  readonly renewal: string;
}

/** Shows the limits of the tier, and the remaining quota of each limit. */
export function LimitsSection({ heading = 'Limits of your tier', tier, state }: LimitsSectionProps) {
  const title = (
    <>
      {heading} <span class="badge">{tier.name}</span>
    </>
  );
  return (
    <Section id="limits" title={title}>
      <Notice>
        {state === undefined &&
          'The remaining quota is unavailable right now. The limits still apply. Reload the page later.'}
      </Notice>
      <Table
        caption="Limits and remaining quota"
        class="limits"
        rows={linesOf(tier, state)}
        columns={[
          { title: 'Limit', cell: ({ name }) => name },
          { title: 'Allowed', isNumber: true, cell: ({ limit }) => (limit === undefined ? 'No limit' : count(limit)) },
          { title: 'Used', isNumber: true, cell: usedOf },
          { title: 'Remaining', isNumber: true, cell: (line) => known(line, ({ remaining }) => count(remaining)) },
          { title: 'Resets', cell: ({ limit, renewal }) => (limit === undefined ? '–' : renewal) },
        ]}
      />
      <p class="fine">
        {tier.maxTokens === undefined
          ? 'Only the model limits the length of an answer.'
          : `An answer can have up to ${count(tier.maxTokens)} tokens.`}{' '}
        Requests above a limit get status 429 and cost nothing.
      </p>
    </Section>
  );
}

function linesOf(tier: TierConfig, states: LimitStates | undefined): readonly LimitLine[] {
  return LIMIT_NAMES.map((name) => ({
    name: limitLabel(name),
    limit: tier[name],
    remaining: states?.[name]?.remaining,
    renewal: renewalOf(LIMITS[name].window, states?.[name]),
  }));
}

function renewalOf(window: LimitWindow, state: LimitState | undefined): string {
  const wait = state?.resetSeconds === undefined ? undefined : waitingTime(state.resetSeconds);
  switch (window) {
    case 'none':
      return 'when a stream ends';
    case 'minute':
      return wait === undefined || state?.remaining === state?.limit
        ? '1 minute after the first request'
        : `in ${wait}`;
    case 'day':
      return wait === undefined ? 'at midnight UTC' : `at midnight UTC, in ${wait}`;
    case 'month':
      return wait === undefined ? 'with the month, UTC' : `with the month, UTC, in ${wait}`;
  }
}

/** The text of a line whose limit and remainder are known. */
function known<T>(
  { limit, remaining }: LimitLine,
  textOf: (line: { limit: number; remaining: number }) => T,
): T | string {
  if (limit === undefined) return '–';
  return remaining === undefined ? 'unknown' : textOf({ limit, remaining });
}

/** The used part of a limit, with a bar. */
function usedOf(line: LimitLine) {
  return known(line, ({ limit, remaining }) => {
    const share = 1 - remaining / limit;
    return (
      <>
        {count(limit - remaining)}
        <Gauge share={share} warns />
      </>
    );
  });
}
