import { ServiceError } from '../../common/service-error.js';

const DAY_MS = 86_400_000;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DEFAULT_DAYS = 30;
/** Longer than a leap year. */
const MAX_DAYS = 400;

/** Whole days in UTC, from the beginning of one to before the beginning of another. */
export interface UsagePeriod {
  readonly from: Date;
  readonly to: Date;
}

/** The days asked for: both named ones are part of it. By default the last 30, today included. */
export interface AskedPeriod {
  /** `YYYY-MM-DD` */
  readonly from?: string | undefined;
  /** `YYYY-MM-DD` */
  readonly to?: string | undefined;
}

/** @throws {ServiceError} `invalid_request` for what is no day, or no period. */
export function usagePeriod({ from, to }: AskedPeriod, now: number): UsagePeriod {
  const last = to === undefined ? startOfDay(now) : dayOf(to, 'to');
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : dayOf(from, 'from');
  if (first > last) throw refused('from', 'must not be after "to"');
  if (last - first >= MAX_DAYS * DAY_MS) throw refused('from', `must not be more than ${MAX_DAYS} days before "to"`);
  return { from: new Date(first), to: new Date(last + DAY_MS) };
}

function dayOf(text: string, field: string): number {
  const moment = DATE.test(text) ? Date.parse(text) : NaN;
  // Date.parse takes the 30th of February for a day of March.
  if (Number.isNaN(moment) || new Date(moment).toISOString().slice(0, 10) !== text) {
    throw refused(field, 'must be a day in the form YYYY-MM-DD');
  }
  return moment;
}

export function startOfDay(now: number): number {
  return Math.floor(now / DAY_MS) * DAY_MS;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', `The period is not valid: ${field} ${message}.`, {
    details: [{ field, message }],
  });
}
