import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';

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
