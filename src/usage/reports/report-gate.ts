import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';

/** The maximum number of concurrent reports. It is half of the connections for all queries except credential queries. */
const REPORTS_AT_ONCE = 3;
/** The maximum number of running and waiting reports of one account, for example a page and a program, or two pages. */
const REPORTS_OF_AN_ACCOUNT = 2;
const REPORTS_WAITING = 30;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the number of concurrent reports, so that the database can serve other queries. The cost of a report grows with
 * the activity of the account. Reports beyond the limits are rejected immediately.
 */
@Injectable()
export class ReportGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly ofAccount = new Map<string, number>();

  constructor(private readonly shedLoad: ShedLoad) {}

  /**
   * Runs a report, if necessary after other reports.
   *
   * @throws {ServiceError} `concurrency_limit_exceeded` when the account has too many reports, `unavailable` when all
   * accounts together have too many.
   * @example const rows = await this.gate.run(accountId, () => this.reports.daily(accountId, from, to));
   */
  async run<T>(accountId: string, report: () => Promise<T>): Promise<T> {
    const own = this.ofAccount.get(accountId) ?? 0;
    if (own >= REPORTS_OF_AN_ACCOUNT) throw this.refusal('account');
    if (this.running >= REPORTS_AT_ONCE && this.waiting.length >= REPORTS_WAITING) throw this.refusal('all');
    this.ofAccount.set(accountId, own + 1);
    if (this.running < REPORTS_AT_ONCE) this.running += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      return await report();
    } finally {
      void this.leave(accountId);
    }
  }

  /** Ends a report. Other requests run before the next report, because an embedded database blocks the process. */
  private async leave(accountId: string): Promise<void> {
    await nextTurn();
    const own = this.ofAccount.get(accountId) ?? 0;
    if (own > 1) this.ofAccount.set(accountId, own - 1);
    else this.ofAccount.delete(accountId);
    const next = this.waiting.shift();
    // The slot goes directly to the next report, so that a new report cannot take the slot first.
    if (next === undefined) this.running -= 1;
    else next();
  }

  private refusal(whose: 'account' | 'all'): ServiceError {
    this.shedLoad.note('usage_reports');
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    return whose === 'account'
      ? new ServiceError(
          'concurrency_limit_exceeded',
          `An account can request at most ${REPORTS_OF_AN_ACCOUNT} reports at the same time.`,
          options,
        )
      : new ServiceError(
          'unavailable',
          'The service is creating too many reports right now. Try again in a moment.',
          options,
        );
  }
}
