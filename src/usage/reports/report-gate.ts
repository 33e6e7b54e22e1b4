import { Injectable } from '@nestjs/common';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';

/** Half of the connections that everything but credentials shares. */
const REPORTS_AT_ONCE = 3;
/** The reports of one account that run or wait: a page and a program, or two pages. */
const REPORTS_OF_AN_ACCOUNT = 2;
const REPORTS_WAITING = 30;
const RETRY_AFTER_SECONDS = 1;

/**
 * Runs few reports at a time, so that reports leave the database to others. A report is a query whose cost grows with
 * what an account has done. Accounts beyond the limits are refused at once.
 */
@Injectable()
export class ReportGate {
  private running = 0;
  private readonly waiting: (() => void)[] = [];
  private readonly ofAccount = new Map<string, number>();

  constructor(private readonly shedLoad: ShedLoad) {}

  /**
   * @throws {ServiceError} `concurrency_limit_exceeded` when the account has too many reports, `unavailable` when all
   * accounts together have.
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

  /** An embedded database answers without letting anybody else run: other requests have their turn before the next report. */
  private async leave(accountId: string): Promise<void> {
    await nextTurn();
    const own = this.ofAccount.get(accountId) ?? 0;
    if (own > 1) this.ofAccount.set(accountId, own - 1);
    else this.ofAccount.delete(accountId);
    const next = this.waiting.shift();
    // The place goes straight to the next report, so that no new one can take it first.
    if (next === undefined) this.running -= 1;
    else next();
  }

  private refusal(whose: 'account' | 'all'): ServiceError {
    this.shedLoad.note('usage_reports');
    const options = { retryAfterSeconds: RETRY_AFTER_SECONDS };
    return whose === 'account'
      ? new ServiceError(
          'concurrency_limit_exceeded',
          `An account may ask for ${REPORTS_OF_AN_ACCOUNT} reports at once.`,
          options,
        )
      : new ServiceError('unavailable', 'Too many reports are made right now. Try again in a moment.', options);
  }
}
