import { ServiceError } from '../../common/service-error.js';
import { DAY_MS, startOfDay, utcDay } from '../../common/utc-day.js';
import { usagePeriod, type UsagePeriod } from '../../usage/reports/usage-period.js';

/** The lengths of the period that the user can choose, in days, including today. */
export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];

/**
 * Reads the number of days from the query. The default is 30.
 *
 * @throws {ServiceError} `invalid_request` for a value that is not in {@link RANGES}.
 */
export function rangeOf(days: unknown): Range {
  if (days === undefined) return 30;
  const range = RANGES.find((known) => String(known) === days);
  if (range !== undefined) return range;
  const message = `must be one of ${RANGES.join(', ')}`;
  throw new ServiceError('invalid_request', `The number of days ${message}.`, {
    details: [{ field: 'days', message }],
  });
}

/** The period of the last `range` days, including today. */
export function lastDays(range: Range, now: number): UsagePeriod {
  return usagePeriod({ from: utcDay(startOfDay(now) - (range - 1) * DAY_MS) }, now);
}

/** Every day of the period as `YYYY-MM-DD`, oldest first. */
export function daysOf({ from, to }: UsagePeriod): readonly string[] {
  const count = Math.round((to.getTime() - from.getTime()) / DAY_MS);
  return Array.from({ length: count }, (_, index) => utcDay(from.getTime() + index * DAY_MS));
}
