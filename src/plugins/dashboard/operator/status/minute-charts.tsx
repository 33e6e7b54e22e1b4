import { MINUTE_MS } from '../../../../plugin-api/core/common.js';
import { KEPT_MINUTES, type Totals } from './minute-history.js';
import type { StatusSnapshot } from './service-status.js';
import { count } from '../../format/numbers.js';
import { LocalTime } from '../../format/times.js';
import { Section } from '../../parts/blocks.js';
import { Table } from '../../parts/table.js';
import { BarChart, type Series } from '../../usage/bar-chart.js';

const NOTHING: Totals = { requests: 0, errors: 0, refused: 0, openStreams: 0 };

const CHARTS: readonly (readonly [title: string, series: readonly (readonly [keyof Totals, string, string])[]])[] = [
  ['Requests per minute', [['requests', 'Requests', 'blue']]],
  [
    'Errors per minute',
    [
      ['errors', 'Errors', 'red'],
      ['refused', 'Refused', 'amber'],
    ],
  ],
  ['Open streams', [['openStreams', 'Open', 'green']]],
];

interface MinuteChartsProps {
  /** The replicas whose numbers are added up. */
  readonly snapshots: readonly StatusSnapshot[];
  readonly now: number;
}

/** The last 60 minutes of all replicas together, as small charts. */
export function MinuteCharts({ snapshots, now }: MinuteChartsProps) {
  const sums = sumsByMinute(snapshots);
  const present = Math.floor(now / MINUTE_MS);
  const minutes = Array.from({ length: KEPT_MINUTES + 1 }, (_, index) => present - KEPT_MINUTES + index);
  const rows = minutes.map((minute) => ({
    time: new Date(minute * MINUTE_MS).toISOString(),
    counts: sums.get(minute) ?? NOTHING,
  }));
  return (
    <Section id="minutes" title="Last 60 minutes">
      <div class="charts">
        {CHARTS.map(([title, series]) => (
          <BarChart
            key={title}
            title={title}
            unit="minute"
            days={rows.map(({ time }) => time)}
            series={series.map(([name, label, color]): Series => ({
              label,
              class: color,
              values: rows.map(({ counts }) => counts[name]),
            }))}
            isWhole
            textOf={count}
          />
        ))}
      </div>
      <details id="by-minute">
        <summary>By minute</summary>
        <Table
          caption="By minute, latest first"
          rows={rows.filter(({ counts }) => Object.values(counts).some((value) => value > 0)).reverse()}
          columns={[
            { title: 'Minute', cell: ({ time }) => <LocalTime at={new Date(time)} shows="time" /> },
            { title: 'Requests', isNumber: true, cell: ({ counts }) => count(counts.requests) },
            { title: 'Errors', isNumber: true, cell: ({ counts }) => count(counts.errors) },
            { title: 'Refused', isNumber: true, cell: ({ counts }) => count(counts.refused) },
            { title: 'Open streams', isNumber: true, cell: ({ counts }) => count(counts.openStreams) },
          ]}
        />
      </details>
      <p class="fine">
        <span class="needs-script">Choose a minute in a chart to see its values. </span>
        Requests are of all kinds, health checks and pages included. Errors are those of providers and of the service.
        The last minute is not over. Minutes before the start of a process are missing.
      </p>
    </Section>
  );
}

function sumsByMinute(snapshots: readonly StatusSnapshot[]): ReadonlyMap<number, Totals> {
  const sums = new Map<number, Totals>();
  for (const { minute, requests, errors, refused, openStreams } of snapshots.flatMap(({ minutes }) => minutes)) {
    const sum = sums.get(minute) ?? NOTHING;
    sums.set(minute, {
      requests: sum.requests + requests,
      errors: sum.errors + errors,
      refused: sum.refused + refused,
      openStreams: sum.openStreams + openStreams,
    });
  }
  return sums;
}
