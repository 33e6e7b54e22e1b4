import { count, countOf } from '../format/numbers.js';
import { cost } from './sum-texts.js';
import { UsageSum } from './usage-sum.js';

interface SpendFiguresProps {
  /** `YYYY-MM-DD`, oldest first. The last one is today. `undefined`: the user has chosen the days. */
  readonly days: readonly string[] | undefined;
  readonly byDay: ReadonlyMap<string, UsageSum>;
  readonly total: UsageSum;
  readonly withCost: boolean;
}

/** The most important figures: what was spent today, in the last 7 days, and in the period. */
export function SpendFigures({ days, byDay, total, withCost }: SpendFiguresProps) {
  if (days === undefined) return <Figures figures={[['These days', total]]} withCost={withCost} />;
  const figures: [label: string, sum: UsageSum][] = [
    ['Today', sumOf(days.slice(-1), byDay)],
    ['Last 7 days', sumOf(days.slice(-7), byDay)],
    ...(days.length > 7 ? [[`Last ${days.length} days`, total] as [string, UsageSum]] : []),
  ];
  return <Figures figures={figures} withCost={withCost} />;
}

interface FiguresProps {
  readonly figures: readonly (readonly [label: string, sum: UsageSum])[];
  readonly withCost: boolean;
}

/** Figures in large type, each with its label. */
export function Figures({ figures, withCost }: FiguresProps) {
  return (
    <dl class="figures">
      {figures.map(([label, sum]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>
            {withCost ? (
              <strong>{sum.requests === 0 ? '0' : cost(sum)}</strong>
            ) : (
              <strong>{count(sum.requests)}</strong>
            )}
            <small>{withCost ? countOf(sum.requests, 'request') : sum.requests === 1 ? 'request' : 'requests'}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function sumOf(days: readonly string[], byDay: ReadonlyMap<string, UsageSum>): UsageSum {
  const sum = new UsageSum();
  for (const day of days) {
    const known = byDay.get(day);
    if (known !== undefined) sum.add(known);
  }
  return sum;
}
