import type { ComponentChildren } from 'preact';
import type { ListedApiKey } from '../../../plugin-api/core/accounts.js';
import { utcDay } from '../../../plugin-api/core/common.js';
import { count, money, LocalTime } from '../numbers-and-times.js';
import { Notice, Section } from '../parts/blocks.js';
import { pathWith } from '../paths.js';
import { BarChart, type Series } from './bar-chart.js';
import { KeyName, keyText } from './request-table.js';
import { SpendFigures, SignNotes, cost, tokens, busiestOf, UsageSum } from './usage-sum.js';
import { hasChosenDays, UsageFilterForm, type UsageFilter, type UsageFilterFormProps } from './usage-filter.js';
import type { ShownPeriod, UsageTotals } from './usage-reader.js';
import { Table } from '../parts/table.js';
import { Gauge } from './limits-section.js';

interface UsageLine {
  readonly name: ComponentChildren;
  readonly sum: UsageSum;
}

interface UsageTableProps {
  readonly caption: string;
  /** The heading of the first column, such as "Model". */
  readonly heading: string;
  readonly lines: readonly UsageLine[];
  readonly total: UsageSum;
  readonly withCost: boolean;
  /** Whether each line shows a bar for its share of all requests. */
  readonly withShares?: boolean;
}

/** A table with sums of requests, tokens and costs. */
function UsageTable({ caption, heading, lines, total, withCost, withShares = false }: UsageTableProps) {
  const totals = { name: 'Total', sum: total };
  const nameOf = (line: UsageLine) => (
    <>
      {line.name}
      {withShares && line !== totals ? <Gauge share={line.sum.requests / Math.max(1, total.requests)} /> : null}
    </>
  );
  const errorsOf = ({ sum: { errors } }: UsageLine) => (errors > 0 ? <span class="bad">{count(errors)}</span> : '0');
  return (
    <Table
      caption={caption}
      showsCaption
      rows={lines}
      total={totals}
      columns={[
        { title: heading, cell: nameOf },
        { title: 'Requests', isNumber: true, cell: ({ sum }) => count(sum.requests) },
        { title: 'Errors', isNumber: true, cell: errorsOf },
        { title: 'Input tokens', isNumber: true, cell: ({ sum }) => tokens(sum.inputTokens, sum) },
        { title: 'Output tokens', isNumber: true, cell: ({ sum }) => tokens(sum.outputTokens, sum) },
        withCost && { title: 'Cost', isNumber: true, cell: ({ sum }) => cost(sum) },
      ]}
    />
  );
}

interface UsageSectionProps extends UsageFilterFormProps, Omit<UsageSummaryProps, 'totals' | 'filter'> {
  readonly title: string;
  /** `undefined` when the totals cannot be read. */
  readonly totals: UsageTotals | undefined;
  /** The path of the figures as CSV. */
  readonly download?: string;
  /** What to do if there is no usage. */
  readonly children?: ComponentChildren;
}

/** The filter of a usage page, and the figures that pass it. */
export function UsageSection({ title, download, children, filter, path, models, ...figures }: UsageSectionProps) {
  const { period, totals, keys } = figures;
  const link =
    download === undefined ? undefined : (
      <a href={pathWith(download, { ...filter })} download>
        Download CSV
      </a>
    );
  return (
    <Section id="used" title={title} link={link}>
      <UsageFilterForm filter={filter} path={path} models={models} keys={keys} hasPrices={figures.hasPrices} />
      <p class="fine">
        {`${utcDay(period.from)} to ${utcDay(period.to.getTime() - 1)}${hasChosenDays(filter) ? '' : ', today included'}. Days begin and end at midnight UTC. Up to three days are shown by hour.`}
      </p>
      {totals === undefined ? (
        <Notice>Usage is unavailable right now. No data is lost. Reload the page later.</Notice>
      ) : totals.total.requests > 0 ? (
        <UsageSummary {...figures} filter={filter} totals={totals} />
      ) : (
        <div class="empty-state">
          <p>
            <strong>No usage in this period.</strong>
          </p>
          {children}
        </div>
      )}
    </Section>
  );
}

/** The maximum number of lines of a table. One more line contains the sum of all other entries. */
const MAX_LINES = 100;
const NOTHING = new UsageSum();

interface UsageSummaryProps {
  /** The totals of at least one request. */
  readonly totals: UsageTotals;
  readonly period: ShownPeriod;
  readonly keys: readonly ListedApiKey[] | undefined;
  readonly hasPrices: boolean;
  readonly filter: UsageFilter;
}

/** Charts by day or hour, and tables by model, by key and by day or hour. */
function UsageSummary({ totals, period, keys, hasPrices, filter }: UsageSummaryProps) {
  const { unit, steps: days } = period;
  const { total, byDay, byModel, byKey } = totals;
  const withCost = hasPrices || total.costs.size > 0;
  const perDay = (figure: (sum: UsageSum) => number) => days.map((day) => figure(byDay.get(day) ?? NOTHING));
  const chart = { unit, days, isWhole: true, textOf: count } as const;
  const models = linesOf(byModel, (model) => <code>{model}</code>);
  const clients = linesOf(byKey, (client) => <KeyName {...client} keys={keys} />);
  return (
    <>
      <SpendFigures days={hasChosenDays(filter) ? undefined : days} byDay={byDay} total={total} withCost={withCost} />
      <div class="charts">
        {withCost ? <CostChart totals={totals} period={period} keys={keys} /> : null}
        <BarChart
          title={`Requests per ${unit}`}
          {...chart}
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
          title={`Tokens per ${unit}`}
          {...chart}
          series={[
            { label: 'Input', class: 'green', values: perDay(({ inputTokens }) => inputTokens) },
            { label: 'Output', class: 'blue', values: perDay(({ outputTokens }) => outputTokens) },
          ]}
        />
      </div>
      <p class="fine">
        <span class="needs-script">Choose {unit === 'day' ? 'a day' : 'an hour'} in a chart to see its values. </span>
        Errors are failures of a model, the service or a request. Stopped answers are not counted as errors.
      </p>
      <UsageTable caption="By model" heading="Model" lines={models} {...{ total, withCost }} withShares />
      <UsageTable caption="By key" heading="Key" lines={clients} {...{ total, withCost }} withShares />
      <details>
        <summary>By {unit}</summary>
        <UsageTable
          caption={`By ${unit}, latest first`}
          heading={unit === 'day' ? 'Day' : 'Hour'}
          lines={[...byDay].reverse().map(([day, sum]) => ({
            name: unit === 'day' ? <time dateTime={day}>{day}</time> : <LocalTime at={new Date(day)} />,
            sum,
          }))}
          {...{ total, withCost }}
        />
        <p class="fine">The table shows only {unit}s with requests.</p>
      </details>
      <SignNotes sums={[total]} withCost={withCost} withTokens />
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

/** The models or keys with the highest costs have a color of their own. The cost of all others is one series. */
const COLORS = ['blue', 'green', 'brown', 'violet', 'pink'];
const OTHERS = 'gray';

type CostChartProps = Pick<UsageSummaryProps, 'totals' | 'period' | 'keys'>;

/** The cost per day or hour, by model or key. Shows nothing if the costs have several currencies, because they cannot be added. */
function CostChart({ totals, period: { unit, steps }, keys }: CostChartProps) {
  const { costs, total } = totals;
  const [currency, another] = total.costs.keys();
  if (currency === undefined || another !== undefined) return null;
  const nameOf = (series: string) => {
    const client = totals.clientOf(series);
    return client === undefined ? series : keyText(client, keys);
  };
  return (
    <BarChart
      title={`Cost per ${unit}`}
      unit={unit}
      days={steps}
      series={seriesOf(costs, steps, nameOf)}
      isWhole={false}
      textOf={(value) => money(value, currency)}
    />
  );
}

function seriesOf(
  costs: UsageTotals['costs'],
  days: readonly string[],
  nameOf: (series: string) => string,
): readonly Series[] {
  const sums = [...costs]
    .map(([series, byDay]) => ({ label: nameOf(series), values: days.map((day) => byDay.get(day) ?? 0) }))
    .map((line) => ({ ...line, sum: line.values.reduce((sum, value) => sum + value, 0) }))
    .filter(({ sum }) => sum > 0)
    .sort((one, other) => other.sum - one.sum);
  const shown = sums
    .slice(0, COLORS.length)
    .map(({ label, values }, index) => ({ label, class: COLORS[index] ?? OTHERS, values }));
  const rest = sums.slice(COLORS.length);
  if (rest.length === 0) return shown;
  const values = days.map((_, index) => rest.reduce((sum, line) => sum + (line.values[index] ?? 0), 0));
  return [...shown, { label: 'Others', class: OTHERS, values }];
}
