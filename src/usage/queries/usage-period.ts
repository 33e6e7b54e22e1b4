import { ServiceError } from '../../platform/common/service-error.js';
import { DAY_MS, startOfDay, utcDay } from '../../platform/common/clock.js';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const DEFAULT_DAYS = 30;
/** Longer than a leap year. */
const MAX_DAYS = 400;

/** A period of whole days in UTC. `from` is the start of the first day. `to` is the end of the last day and not included. */
export interface UsagePeriod {
  readonly from: Date;
  readonly to: Date;
}

/** The requested days. Both days are included. By default, `to` is today, and the period has 30 days. */
interface RequestedPeriod {
  /** `YYYY-MM-DD` */
  readonly from?: string | undefined;
  /** `YYYY-MM-DD` */
  readonly to?: string | undefined;
}

/**
 * Converts the requested days to a period.
 *
 * @throws {ServiceError} `invalid_request` for an invalid day or an invalid period.
 */
export function usagePeriod({ from, to }: RequestedPeriod, now: number): UsagePeriod {
  const last = to === undefined ? startOfDay(now) : startOfNamedDay(to, 'to');
  const first = from === undefined ? last - (DEFAULT_DAYS - 1) * DAY_MS : startOfNamedDay(from, 'from');
  if (first > last) throw refused('from', 'must not be after "to"');
  if (last - first >= MAX_DAYS * DAY_MS) throw refused('from', `must not be more than ${MAX_DAYS} days before "to"`);
  return { from: new Date(first), to: new Date(last + DAY_MS) };
}

/** @throws {ServiceError} `invalid_request` when the text is not a day. */
function startOfNamedDay(text: string, field: string): number {
  const moment = DATE.test(text) ? Date.parse(text) : NaN;
  // Date.parse accepts the 30th of February as a day of March.
  if (Number.isNaN(moment) || utcDay(moment) !== text) {
    throw refused(field, 'must be a day in the form YYYY-MM-DD');
  }
  return moment;
}

function refused(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', `The period is invalid: ${field} ${message}.`, {
    details: [{ field, message }],
  });
}
