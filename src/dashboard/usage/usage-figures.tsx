import type { ListedApiKey } from '../../accounts/api-keys.service.js';
import type { UsageRow } from '../../usage/usage-reports.js';
import { BarChart } from './bar-chart.js';
import { AT_LEAST, ESTIMATED } from './figures.js';
import { KeyName, keyOf } from './key-names.js';
import { busiestFirst, NOTHING, sumOf, sumsBy, type UsageSum } from './usage-sums.js';
import { UsageTable } from './usage-table.js';

export interface UsageFiguresProps {
  /** At least one. */
  readonly rows: readonly UsageRow[];
  readonly days: readonly string[];
  readonly keys: readonly ListedApiKey[] | undefined;
  readonly hasPrices: boolean;
}

/** Charts by day, and tables by day, by model and by key. */
export function UsageFigures({ rows, days, keys, hasPrices }: UsageFiguresProps) {
  const total = sumOf(rows);
  const byDay = sumsBy(rows, ({ day }) => day);
  const withCost = hasPrices || total.costs.size > 0;
  const perDay = (figure: (sum: UsageSum) => number) => days.map((day) => figure(byDay.get(day) ?? NOTHING));
  return (
    <>
      <div class="charts">
        <BarChart
          title="Requests per day"
          days={days}
          series={[
            { label: 'Complete', class: 'series-complete', values: perDay(({ completed }) => completed) },
            {
              label: 'Stopped',
              class: 'series-stopped',
              values: perDay(({ requests, completed, errors }) => requests - completed - errors),
            },
            { label: 'Errors', class: 'series-errors', values: perDay(({ errors }) => errors) },
          ]}
        />
        <BarChart
          title="Tokens per day"
          days={days}
          series={[
            { label: 'Input', class: 'series-input', values: perDay(({ promptTokens }) => promptTokens) },
            { label: 'Output', class: 'series-output', values: perDay(({ completionTokens }) => completionTokens) },
          ]}
        />
      </div>
      <UsageTable
        caption="By model"
        heading="Model"
        lines={busiestFirst(sumsBy(rows, ({ model }) => model)).map(([model, sum]) => ({
          name: <code>{model}</code>,
          sum,
        }))}
        total={total}
        withCost={withCost}
        withShares
      />
      <UsageTable
        caption="By key"
        heading="Key"
        lines={busiestFirst(sumsBy(rows, keyOf)).map(([key, sum]) => ({ name: nameOf(key, rows, keys), sum }))}
        total={total}
        withCost={withCost}
        withShares
      />
      <UsageTable
        caption="By day, the latest first"
        heading="Day"
        lines={[...byDay].reverse().map(([day, sum]) => ({ name: <time dateTime={day}>{day}</time>, sum }))}
        total={total}
        withCost={withCost}
      />
      <Notes total={total} withCost={withCost} />
    </>
  );
}

function nameOf(key: string, rows: readonly UsageRow[], keys: readonly ListedApiKey[] | undefined) {
  const row = rows.find((other) => keyOf(other) === key);
  if (row === undefined) return key;
  return <KeyName credential={row.credential} keyId={row.keyId} keyPrefix={row.keyPrefix} keys={keys} />;
}

/** What the signs before figures mean, where there are any. */
function Notes({ total, withCost }: { readonly total: UsageSum; readonly withCost: boolean }) {
  const notes = [
    total.tokensEstimated > 0 && `${ESTIMATED} Part of it is an estimate, as the vendor did not report its tokens.`,
    total.tokensUnknown > 0 && `${AT_LEAST} Nobody knows the tokens of some requests: they are not in the figure.`,
    withCost &&
      total.withoutCost > 0 &&
      'Cost leaves out requests whose tokens are not known or whose model had no price.',
    'Days without requests are left out of the table by day.',
    'Errors are failures of a model, of the service or of the request. An answer that you stop is none.',
  ].filter((note) => note !== false);
  return (
    <ul class="fine notes">
      {notes.map((note) => (
        <li key={note}>{note}</li>
      ))}
    </ul>
  );
}
