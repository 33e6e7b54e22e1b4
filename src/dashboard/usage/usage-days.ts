import { ServiceError } from '../../common/service-error.js';
import { startOfDay, usagePeriod, type UsagePeriod } from '../../usage/reports/usage-period.js';

const DAY_MS = 86_400_000;

/** How many days back one can look, today included. */
export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];

/** @throws {ServiceError} `invalid_request` for what is no {@link RANGES range}. */
export function rangeOf(days: unknown): Range {
  if (days === undefined) return 30;
  const range = RANGES.find((known) => String(known) === days);
  if (range !== undefined) return range;
  const message = `must be one of ${RANGES.join(', ')}`;
  throw new ServiceError('invalid_request', `The number of days ${message}.`, {
    details: [{ field: 'days', message }],
  });
}

/** The last so many days. */
export function lastDays(range: Range, now: number): UsagePeriod {
  return usagePeriod({ from: dayOf(startOfDay(now) - (range - 1) * DAY_MS) }, now);
}

/** Every day of the period as `YYYY-MM-DD`, oldest first. */
export function daysOf({ from, to }: UsagePeriod): readonly string[] {
  const count = Math.round((to.getTime() - from.getTime()) / DAY_MS);
  return Array.from({ length: count }, (_, index) => dayOf(from.getTime() + index * DAY_MS));
}

function dayOf(moment: number): string {
  return new Date(moment).toISOString().slice(0, 10);
}
