import { Injectable } from '@nestjs/common';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';

/** The maximum number of receipts of one account that are looked up at the same time. */
const LOOKUPS_OF_AN_ACCOUNT = 20;
const RETRY_AFTER_SECONDS = 1;

/** Limits the lookups of receipts of each account, so that one account cannot occupy the connections to the database. */
@Injectable()
export class ReceiptGate {
  private readonly running = new Map<string, number>();

  constructor(private readonly shedLoad: ShedLoad) {}

  /** @throws {ServiceError} `concurrency_limit_exceeded` when too many lookups of the account run. */
  async run<T>(accountId: string, lookup: () => Promise<T>): Promise<T> {
    const own = this.running.get(accountId) ?? 0;
    if (own >= LOOKUPS_OF_AN_ACCOUNT) {
      this.shedLoad.note('usage_reports');
      const message = `An account can request at most ${LOOKUPS_OF_AN_ACCOUNT} receipts at the same time.`;
      throw new ServiceError('concurrency_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
    this.running.set(accountId, own + 1);
    try {
      return await lookup();
    } finally {
      const left = (this.running.get(accountId) ?? 1) - 1;
      if (left === 0) this.running.delete(accountId);
      else this.running.set(accountId, left);
    }
  }
}
