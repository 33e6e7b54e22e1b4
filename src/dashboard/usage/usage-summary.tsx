import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { BarChart } from './bar-chart.js';
import { CostChart } from './cost-chart.js';
import { SpendFigures } from './spend-figures.js';
import { count } from '../format/numbers.js';
import { KeyName } from './request-cells.js';
import { busiestOf, UsageSum } from './usage-sum.js';
import type { CostDecimals } from './sum-texts.js';
import { UsageTable, type UsageLine } from './usage-table.js';
import type { UsageTotals } from './usage-totals.js';

/** The maximum number of lines of a table. One more line contains the sum of all other entries. */
const MAX_LINES = 100;
const NOTHING = new UsageSum();

export interface UsageSummaryProps {
  /** The totals of at least one request. */
  readonly totals: UsageTotals;
  readonly days: readonly string[];
  readonly keys: readonly ListedApiKey[] | undefined;
  readonly hasPrices: boolean;
  readonly decimals: CostDecimals;
}

/** Charts by day, and tables by model, by key and by day. */
export function UsageSummary({ totals, days, keys, hasPrices, decimals }: UsageSummaryProps) {
  const { total, byDay, byModel, byKey } = totals;
  const withCost = hasPrices || total.costs.size > 0;
  const perDay = (figure: (sum: UsageSum) => number) => days.map((day) => figure(byDay.get(day) ?? NOTHING));
  return (
    <>
      <SpendFigures days={days} byDay={byDay} total={total} withCost={withCost} decimals={decimals} />
      <div class="charts">
        {withCost ? <CostChart totals={totals} days={days} decimals={decimals} /> : null}
        <BarChart
          title="Requests per day"
          days={days}
          isWhole
          textOf={count}
          series={[
            { label: 'Complete', class: 'blue', values: perDay(({ completed }) => completed) },
            {
              label: 'Stopped',
              class: 'gray',
              values: perDay(({ requests, completed, errors }) => requests - completed - errors),
            },
            { label: 'Errors', class: 'red', values: perDay(({ errors }) => errors) },
          ]}
        />
        <BarChart
          title="Tokens per day"
          days={days}
          isWhole
          textOf={count}
          series={[
            { label: 'Input', class: 'green', values: perDay(({ inputTokens }) => inputTokens) },
            { label: 'Output', class: 'blue', values: perDay(({ outputTokens }) => outputTokens) },
          ]}
        />
      </div>
      <p class="fine">
        <span class="needs-script">Choose a day in a chart to see its values. </span>
        Errors are failures of a model, the service or a request. Stopped answers are not counted as errors.
      </p>
      <UsageTable
        caption="By model"
        heading="Model"
        lines={linesOf(byModel, (model) => (
          <code>{model}</code>
        ))}
        total={total}
        withCost={withCost}
        decimals={decimals}
        withShares
      />
      <UsageTable
        caption="By key"
        heading="Key"
        lines={linesOf(byKey, (client) => (
          <KeyName {...client} keys={keys} />
        ))}
        total={total}
        withCost={withCost}
        decimals={decimals}
        withShares
      />
      <details>
        <summary>By day</summary>
        <UsageTable
          caption="By day, latest first"
          heading="Day"
          lines={[...byDay].reverse().map(([day, sum]) => ({ name: <time dateTime={day}>{day}</time>, sum }))}
          total={total}
          withCost={withCost}
          decimals={decimals}
        />
        <p class="fine">The table shows only days with requests.</p>
      </details>
    </>
  );
}

function linesOf<T>(
  sums: Iterable<readonly [T, UsageSum]>,
  nameOf: (one: T) => UsageLine['name'],
): readonly UsageLine[] {
  const { busiest, otherCount, others } = busiestOf(sums, MAX_LINES);
  const lines = busiest.map(([one, sum]) => ({ name: nameOf(one), sum }));
  return otherCount === 0 ? lines : [...lines, { name: `${count(otherCount)} others`, sum: others }];
}
