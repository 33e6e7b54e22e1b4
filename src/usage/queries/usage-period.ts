import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DAY_MS, startOfDay, utcDay } from '../../platform/common/clock.js';
import { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';

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

/** The maximum number of concurrent reports. It is half of the connections for all queries except credential queries. */
const CONCURRENT_REPORTS = 3;
/** The maximum number of running and waiting reports of one account, for example a page and a program, or two pages. */
const REPORTS_PER_ACCOUNT = 2;
const WAITING_REPORTS = 30;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the number of concurrent reports by account, so that the database can serve other queries. The cost of a report
 * grows with the activity of the account. Reports beyond the limits fail immediately: with `concurrency_limit_exceeded`
 * when the account has too many reports, with `unavailable` when all accounts together have too many.
 */
@Injectable()
export class ReportSemaphore extends KeyedSemaphore {
  constructor(shedLoad: ShedLoad) {
    super(
      { permits: CONCURRENT_REPORTS, perKey: REPORTS_PER_ACCOUNT, maxWaiters: WAITING_REPORTS },
      (limit): ServiceError => {
        shedLoad.count('usage_reports');
        return limit === 'key' ? accountHasTooMany() : allHaveTooMany();
      },
    );
  }

  /** Other requests run before the report, because an embedded database blocks the process. */
  override run<T>(accountId: string, report: () => Promise<T>): Promise<T> {
    return super.run(accountId, async () => {
      await nextTurn();
      return report();
    });
  }
}

function accountHasTooMany(): ServiceError {
  return new ServiceError(
    'concurrency_limit_exceeded',
    `An account can request at most ${REPORTS_PER_ACCOUNT} reports at the same time.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}

function allHaveTooMany(): ServiceError {
  return new ServiceError('unavailable', 'The service is creating too many reports right now. Try again in a moment.', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
