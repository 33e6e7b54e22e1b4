import { count, shortDay } from './number-text.js';

/** One kind of counted value. The first series is at the bottom of each bar. */
export interface Series {
  readonly label: string;
  /** The CSS class that sets the color: `series-…` in the stylesheet. */
  readonly class: string;
  /** One number for each day, in the order of the days. */
  readonly values: readonly number[];
}

export interface BarChartProps {
  readonly title: string;
  /** `YYYY-MM-DD`, oldest first. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
}

/** In units of the drawing. The browser stretches the drawing to the available width. */
const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

/** A bar for each day. A table on the same page shows the same numbers, for users who cannot see the chart. */
export function BarChart({ title, days, series }: BarChartProps) {
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const top = roundTop(Math.max(...totals));
  const width = days.length * STEP;
  return (
    <figure class="chart">
      <figcaption>
        <strong>{title}</strong>
        <span class="legend">
          {series.map(({ label, class: color }) => (
            <span key={label}>
              <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" focusable="false">
                <rect width="10" height="10" rx="2" class={color} />
              </svg>
              {label}
            </span>
          ))}
        </span>
      </figcaption>
      <div class="chart-frame">
        <span class="chart-top" aria-hidden="true">
          {count(top)}
        </span>
        <svg
          viewBox={`0 0 ${width} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`${title}, ${description(days, totals)}`}
        >
          <line class="grid" x1="0" x2={width} y1="0" y2="0" />
          <line class="grid" x1="0" x2={width} y1={HEIGHT / 2} y2={HEIGHT / 2} />
          {days.map((day, index) => (
            <Bar key={day} day={day} left={index * STEP} index={index} series={series} scale={HEIGHT / top} />
          ))}
          <line class="axis" x1="0" x2={width} y1={HEIGHT} y2={HEIGHT} />
        </svg>
      </div>
      <div class="chart-days" aria-hidden="true">
        {[days[0], days[Math.floor(days.length / 2)], days.at(-1)].map((day) => (
          <span key={day}>{shortDay(day ?? '')}</span>
        ))}
      </div>
    </figure>
  );
}

interface BarProps {
  readonly day: string;
  readonly left: number;
  readonly index: number;
  readonly series: readonly Series[];
  readonly scale: number;
}

function Bar({ day, left, index, series, scale }: BarProps) {
  const values = series.map(({ values }) => values[index] ?? 0);
  if (values.every((value) => value === 0)) return null;
  const words = series.map(({ label }, number) => `${label.toLowerCase()} ${count(values[number] ?? 0)}`);
  return (
    <g>
      <title>{`${shortDay(day)}: ${words.join(', ')}`}</title>
      <rect class="column" x={left} y="0" width={STEP} height={HEIGHT} />
      {series.map(({ label, class: color }, number) => {
        const below = values.slice(0, number).reduce((sum, value) => sum + value, 0);
        const height = (values[number] ?? 0) * scale;
        const y = HEIGHT - below * scale - height;
        return height === 0 ? null : (
          <rect
            key={label}
            class={color}
            x={left + (STEP - BAR) / 2}
            y={rounded(y)}
            width={BAR}
            height={rounded(height)}
          />
        );
      })}
    </g>
  );
}

function description(days: readonly string[], totals: readonly number[]): string {
  const most = Math.max(...totals);
  const busiest = days[totals.indexOf(most)] ?? '';
  return `${days[0] ?? ''} to ${days.at(-1) ?? ''}: at most ${count(most)}, on ${busiest}. The table by day has all values.`;
}

/** The smallest round number that is not below the value, so that bars fill most of the height. */
function roundTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)));
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
