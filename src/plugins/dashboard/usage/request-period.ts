import { DAY_MS, MINUTE_MS, startOfDay, utcDay } from '../../../plugin-api/core/common.js';
import type { FormField } from '../forms/page-form.js';

/** `14:03`, `14:03:05`, `2026-11-26`, `2026-11-26 14:03:05`, or a time of ISO 8601 in UTC. */
const MOMENT = /^(?:(\d{4}-\d\d-\d\d)(?:[T ]|$))?(?:(\d\d?):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?(?: ?(?:Z|UTC))?$/;

/** The times that bound a list, as the address of its page has them. */
interface PeriodTexts {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

interface RequestPeriod {
  readonly from: Date | undefined;
  /** The first moment after the period: it includes the whole day, minute or second that is written. */
  readonly to: Date | undefined;
  /** The same times, each with its day, so that a link means the same tomorrow. */
  readonly exact: PeriodTexts;
  /** A text that is no time. */
  readonly wrong: string | undefined;
}

/**
 * Reads times as people write them, in UTC. A time without a day is the latest such time, and the end of a period the first such
 * time after its beginning.
 */
export function periodIn({ from, to }: PeriodTexts, now: number): RequestPeriod {
  const begin = from === undefined ? undefined : writtenTime(from);
  const end = to === undefined ? undefined : writtenTime(to);
  const isWrong = (text: string | undefined, time: WrittenTime | undefined) => text !== undefined && time === undefined;
  const start = begin && (begin.day ?? latestDay(begin, now)) + begin.ofDayMs;
  const last = end && (end.day ?? (start === undefined ? latestDay(end, now) : dayAfter(end, start))) + end.ofDayMs;
  return {
    from: start === undefined ? undefined : new Date(start),
    to: last === undefined || end === undefined ? undefined : new Date(last + end.unitMs),
    exact: {
      from: start === undefined || begin?.day !== undefined ? from : textOf(start, begin),
      to: last === undefined || end?.day !== undefined ? to : textOf(last, end),
    },
    wrong: isWrong(from, begin) ? from : isWrong(to, end) ? to : undefined,
  };
}

interface WrittenTime {
  /** The start of the day. `undefined`: the text has no day. */
  readonly day: number | undefined;
  readonly ofDayMs: number;
  /** The length of the day, minute or second that is written. */
  readonly unitMs: number;
}

function writtenTime(text: string): WrittenTime | undefined {
  const [, day, hour, minute, second] = MOMENT.exec(text) ?? [];
  if (day === undefined && hour === undefined) return undefined;
  const start = day === undefined ? undefined : Date.parse(`${day}T00:00:00Z`);
  const ofDayMs = (Number(hour ?? 0) * 3_600 + Number(minute ?? 0) * 60 + Number(second ?? 0)) * 1_000;
  if (Number.isNaN(start) || ofDayMs >= DAY_MS) return undefined;
  return { day: start, ofDayMs, unitMs: hour === undefined ? DAY_MS : second === undefined ? MINUTE_MS : 1_000 };
}

function latestDay({ ofDayMs }: WrittenTime, now: number): number {
  const today = startOfDay(now);
  return today + ofDayMs > now ? today - DAY_MS : today;
}

function dayAfter({ ofDayMs, unitMs }: WrittenTime, start: number): number {
  const day = startOfDay(start);
  return day + ofDayMs + unitMs > start ? day : day + DAY_MS;
}

function textOf(moment: number, time: WrittenTime | undefined): string {
  const clock = new Date(moment).toISOString().slice(11, time?.unitMs === 1_000 ? 19 : 16);
  return `${utcDay(moment)} ${clock}`;
}

export function periodFields({ from, to }: PeriodTexts): readonly FormField[] {
  const common = {
    type: 'text',
    isOptional: true,
    maxLength: 30,
    placeholder: '14:03 or 2026-11-26 14:03:05',
  } as const;
  return [
    { label: 'From (UTC)', name: 'from', value: from, ...common },
    { label: 'To (UTC)', name: 'to', value: to, ...common },
  ];
}
