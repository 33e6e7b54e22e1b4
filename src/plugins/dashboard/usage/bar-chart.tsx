import { timeText, type TimeParts } from '../../../client/time-text.js';
import { shortDay, timeOfDay } from '../numbers-and-times.js';

/** One kind of counted value. The first series is at the bottom of each bar. */
export interface Series {
  readonly label: string;
  /** The CSS class that sets the color, such as `blue`. */
  readonly class: string;
  /** One number for each bar, in the order of the bars. */
  readonly values: readonly number[];
}

interface BarChartProps {
  readonly title: string;
  /** What a bar stands for. */
  readonly unit?: 'day' | 'hour' | 'minute';
  /** `YYYY-MM-DD`, or the starts of the hours or minutes in ISO 8601, oldest first. */
  readonly days: readonly string[];
  readonly series: readonly Series[];
  /** Whether all values are whole numbers. */
  readonly isWhole: boolean;
  textOf(value: number): string;
}

/** The parts of the time that a bar shows, and its whole text. A day is the same everywhere. */
const LABELS: Readonly<Record<'day' | 'hour' | 'minute', readonly [TimeParts | undefined, (step: string) => string]>> =
  {
    day: [undefined, (day) => day],
    hour: ['minute', (at) => timeText(new Date(at), 'minute', 'UTC')],
    minute: ['clock', (at) => `${timeOfDay(at)} UTC`],
  };

/** In units of the drawing. The browser stretches the drawing to the available width. */
const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

/**
 * A bar for each day, hour or minute. A table on the same page shows the same numbers, for users who cannot see the chart. With JavaScript, a
 * pointer, a finger or the arrow keys choose a bar, and a box next to the bar shows its values.
 */
export function BarChart({ title, unit = 'day', days, series, isWhole, textOf }: BarChartProps) {
  const isTime = unit !== 'day';
  const shortOf = isTime ? timeOfDay : shortDay;
  const [shows, longOf] = LABELS[unit];
  const totals = days.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0));
  const ticks = valueTicks(Math.max(...totals), isWhole);
  const top = ticks.at(-1) ?? 1;
  const width = days.length * STEP;
  const description = `${title}, ${describe(days.map(longOf), totals, textOf)} The table by ${unit} has all values.`;
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
            <span key={tick}>{textOf(tick)}</span>
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
              <Bar key={day} at={day} shows={shows} index={index} series={series} scale={HEIGHT / top}>
                {`${unit === 'hour' ? longOf(day) : shortOf(day)}: ${readout(index, series, textOf)}`}
              </Bar>
            ))}
          </svg>
          <p class="chart-readout" role="status" />
        </div>
        <div class="chart-days" aria-hidden="true">
          {dayTicks(days.length).map((index) => (
            <span key={index} data-shows={isTime ? 'clock' : undefined} data-at={days[index]}>
              {shortOf(days[index] ?? '')}
            </span>
          ))}
        </div>
      </div>
    </figure>
  );
}

interface BarProps {
  readonly at: string;
  /** The parts of the time of an hour or a minute, which the script shows in the time zone of the browser. */
  readonly shows: TimeParts | undefined;
  readonly index: number;
  readonly series: readonly Series[];
  readonly scale: number;
  /** The values of the day in words. */
  readonly children: string;
}

function Bar({ at, shows, index, series, scale, children }: BarProps) {
  const values = series.map(({ values }) => values[index] ?? 0);
  const left = index * STEP;
  return (
    <g class="day">
      <title data-shows={shows} data-at={shows && at}>
        {children}
      </title>
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

/** The number of steps of an axis: with the ends, the axis has 5 to 7 ticks. */
const MIN_STEPS = 4;
const MAX_STEPS = 6;

/** The values of an axis from 0 to a round number that is not below the highest value. They are equally far apart. */
export function valueTicks(highest: number, isWhole: boolean): readonly number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(highest, isWhole ? 1 : 1e-6)));
  const steps = [0.1, 0.2, 0.25, 0.5, 1, 2, 2.5, 5]
    .map((part) => part * power)
    .filter((step) => !isWhole || Number.isInteger(step));
  const step = steps.find((size) => Math.ceil(withoutBinaryError(highest / size)) <= MAX_STEPS) ?? power;
  const count = Math.max(MIN_STEPS, Math.ceil(withoutBinaryError(highest / step)));
  return Array.from({ length: count + 1 }, (_, index) => withoutBinaryError(index * step));
}

/** The places of 5 to 7 days among all days, with the first and the last. Fewer if there are fewer days. */
export function dayTicks(days: number): readonly number[] {
  const steps = Math.min(MAX_STEPS, Math.max(1, days - 1));
  return Array.from({ length: steps + 1 }, (_, index) => Math.round((index * (days - 1)) / steps));
}

/** Removes the error of binary fractions. */
function withoutBinaryError(value: number): number {
  return Number(value.toPrecision(12));
}
