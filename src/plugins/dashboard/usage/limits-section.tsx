import { LIMIT_NAMES, LIMITS, type LimitWindow, type TierConfig } from '../../../plugin-api/core/config.js';
import type { LimitState, LimitStates } from '../../../plugin-api/core/throttling.js';
import { count, limitLabel } from '../format/numbers.js';
import { waitingTime } from '../format/times.js';
import { Notice, Section } from '../parts/blocks.js';
import { Table } from '../parts/table.js';
import { Gauge } from './budget-section.js';

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
