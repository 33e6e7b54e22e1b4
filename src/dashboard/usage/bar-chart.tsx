import { shortDay, timeOfDay } from '../format/times.js';
import { dayTicks, valueTicks } from './ticks.js';

/** One kind of counted value. The first series is at the bottom of each bar. */
export interface Series {
  readonly label: string;
  /** The CSS class that sets the color, such as `blue`. */
  readonly class: string;
  /** One number for each bar, in the order of the bars. */
  readonly values: readonly number[];
}

export interface BarChartProps {
  readonly title: string;
  /** What a bar stands for. */
  readonly unit?: 'day' | 'minute';
  /** `YYYY-MM-DD`, or the times of the minutes in ISO 8601, oldest first. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** Whether all values are whole numbers. */
  readonly isWhole: boolean;
  textOf(value: number): string;
  /** The text of a value at the axis. By default, that of other values. */
  tickTextOf?(value: number): string;
}

/** In units of the drawing. The browser stretches the drawing to the available width. */
const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

/**
 * A bar for each day or minute. A table on the same page shows the same numbers, for users who cannot see the chart. With JavaScript, a
 * pointer, a finger or the arrow keys choose a bar, and a box next to the bar shows its values.
 */
export function BarChart({ title, unit = 'day', days, series, isWhole, textOf, tickTextOf = textOf }: BarChartProps) {
  const shortOf = unit === 'day' ? shortDay : timeOfDay;
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const ticks = valueTicks(Math.max(...totals), isWhole);
  const top = ticks.at(-1) ?? 1;
  const width = days.length * STEP;
  const description = `${title}, ${describe(days.map(unit === 'day' ? (day) => day : timeOfDay), totals, textOf)} The table by ${unit} has all values.`;
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
        <div class="chart-values" aria-hidden="true">
          {[...ticks].reverse().map((tick) => (
            <span key={tick}>{tickTextOf(tick)}</span>
          ))}
        </div>
        <div class="chart-plot">
          <svg viewBox={`0 0 ${width} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={description}>
            {ticks.map((tick) => (
              <line
                key={tick}
                class={tick === 0 ? 'axis' : 'grid'}
                x1="0"
                x2={width}
                y1={HEIGHT - (tick / top) * HEIGHT}
                y2={HEIGHT - (tick / top) * HEIGHT}
              />
            ))}
            {days.map((day, index) => (
              <Bar key={day} left={index * STEP} index={index} series={series} scale={HEIGHT / top}>
                {`${shortOf(day)}: ${readout(index, series, textOf)}`}
              </Bar>
            ))}
          </svg>
          <p class="chart-readout" role="status" />
        </div>
        <div class="chart-days" aria-hidden="true">
          {dayTicks(days.length).map((index) => (
            <span key={index}>{shortOf(days[index] ?? '')}</span>
          ))}
        </div>
      </div>
    </figure>
  );
}

interface BarProps {
  readonly left: number;
  readonly index: number;
  readonly series: readonly Series[];
  readonly scale: number;
  /** The values of the day in words. */
  readonly children: string;
}

function Bar({ left, index, series, scale, children }: BarProps) {
  const values = series.map(({ values }) => values[index] ?? 0);
  return (
    <g class="day">
      <title>{children}</title>
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

function readout(index: number, series: readonly Series[], textOf: (value: number) => string): string {
  const parts = series
    .map(({ label, values }) => [label, values[index] ?? 0] as const)
    .filter(([, value]) => value > 0)
    .map(([label, value]) => `${label} ${textOf(value)}`);
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

function describe(days: readonly string[], totals: readonly number[], textOf: (value: number) => string): string {
  const maximum = Math.max(...totals);
  const busiest = days[totals.indexOf(maximum)] ?? '';
  return `${days[0] ?? ''} to ${days.at(-1) ?? ''}: at most ${textOf(maximum)}, on ${busiest}.`;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
