import { BarChart, type Series } from './bar-chart.js';
import { decimalsFor, money } from '../format/money.js';
import { valueTicks } from './ticks.js';
import type { CostDecimals } from './sum-texts.js';
import type { UsageTotals } from './usage-totals.js';

/** The models with the highest costs have a color of their own. The cost of all others is one series. */
const COLORS = ['blue', 'green', 'brown', 'violet', 'pink'];
const OTHERS = 'gray';

interface CostChartProps {
  readonly totals: UsageTotals;
  readonly days: readonly string[];
  readonly decimals: CostDecimals;
}

/** The cost per day, by model. Shows nothing if the costs have several currencies, because they cannot be added. */
export function CostChart({ totals, days, decimals }: CostChartProps) {
  const { costByModel, total } = totals;
  const [currency, another] = total.costs.keys();
  if (currency === undefined || another !== undefined) return null;
  const series = seriesOf(costByModel, days);
  const highest = Math.max(
    ...days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0)),
  );
  const tickDecimals = decimalsFor(valueTicks(highest, false));
  return (
    <BarChart
      title="Cost per day"
      days={days}
      series={series}
      isWhole={false}
      textOf={(value) => money(value, currency, decimals.get(currency))}
      tickTextOf={(value) => money(value, currency, tickDecimals)}
    />
  );
}

function seriesOf(costByModel: UsageTotals['costByModel'], days: readonly string[]): readonly Series[] {
  const sums = [...costByModel]
    .map(([model, costs]) => ({ model, values: days.map((day) => costs.get(day) ?? 0) }))
    .map((line) => ({ ...line, sum: line.values.reduce((sum, value) => sum + value, 0) }))
    .filter(({ sum }) => sum > 0)
    .sort((one, other) => other.sum - one.sum);
  const shown = sums
    .slice(0, COLORS.length)
    .map(({ model, values }, index) => ({ label: model, class: COLORS[index] ?? OTHERS, values }));
  const rest = sums.slice(COLORS.length);
  if (rest.length === 0) return shown;
  const values = days.map((_, index) => rest.reduce((sum, line) => sum + (line.values[index] ?? 0), 0));
  return [...shown, { label: 'Others', class: OTHERS, values }];
}
