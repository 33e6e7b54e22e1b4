import { timeText, type TimeParts } from '../../client/time-text.js';
import { LIMIT_NAMES, type LimitName, LIMITS, type TierConfig } from '../../plugin-api/core/config.js';

export { money } from '../../client/money.js';

const COUNTS = new Intl.NumberFormat('en-US');

/** The sign for a figure that is partly an estimate. */
export const ESTIMATED = '≈';
/** The sign for a figure that leaves out unknown values. */
export const AT_LEAST = '≥';

export function count(number: number): string {
  return COUNTS.format(number);
}

/** A number of things, such as "1 request" or "2,000 requests". */
export function countOf(number: number, what: string): string {
  return number === 1 ? `1 ${what}` : `${count(number)} ${what}s`;
}

/** The limits of a tier as texts: the name of each limit, and its value. */
export function limitsOf(tier: TierConfig): readonly (readonly [label: string, limit: string])[] {
  const limits = [
    ...LIMIT_NAMES.map((name) => [limitLabel(name), tier[name]] as const),
    ['Tokens per answer', tier.maxTokens] as const,
  ];
  return limits.map(([label, limit]) => [label, limit === undefined ? 'No limit' : count(limit)]);
}

/** The name of a limit at the beginning of a line. */
export function limitLabel(name: LimitName): string {
  const { label } = LIMITS[name];
  return label.charAt(0).toUpperCase() + label.slice(1);
}

const DAYS = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

interface LocalTimeProps {
  readonly at: Date | null;
  /** The text without a date. */
  readonly none?: string;
  /** By default to the minute. */
  readonly shows?: TimeParts;
}

/** Shows a date and time, with its time zone: in UTC, and with JavaScript in the time zone of the browser, see `times.js`. */
export function LocalTime({ at, none = 'Never', shows = 'minute' }: LocalTimeProps) {
  if (at === null) return <span class="none">{none}</span>;
  return (
    <time dateTime={at.toISOString()} data-shows={shows}>
      {timeText(at, shows, 'UTC')}
    </time>
  );
}

/** The short form of a day `YYYY-MM-DD`: "5 Nov". */
export function shortDay(day: string): string {
  return DAYS.format(new Date(day));
}

/** The time of a moment in ISO 8601 in UTC: "09:05". */
export function timeOfDay(moment: string): string {
  return moment.slice(11, 16);
}

/** A duration such as `1.25 s`. `–` if one of the times is unknown. */
export function secondsBetween(from: string, to: string | null): string {
  return to === null ? '–' : seconds(Date.parse(to) - Date.parse(from));
}

export function seconds(ms: number): string {
  if (ms < 10) return '< 0.01 s';
  return `${(ms / 1000).toFixed(2)} s`;
}

/** A duration in seconds as text for people: "45 seconds", "3 minutes". Minutes and hours are rounded up. */
export function waitingTime(seconds: number): string {
  if (seconds < 60) return countOf(seconds, 'second');
  const minutes = Math.ceil(seconds / 60);
  if (minutes < 60) return countOf(minutes, 'minute');
  return countOf(Math.ceil(seconds / 3600), 'hour');
}

/** A duration as text for people: "45 s", "3 min", "5 h 12 min", "3 days". */
export function duration(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1) return `${Math.floor(seconds)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}
