import { Injectable } from '@nestjs/common';
import { KeyedSemaphore, ServiceError, ShedLoad, sleep } from '../../plugin-api/core/common.js';
import { InterruptedStreams, type Receipt, RecentStreams } from '../../plugin-api/core/usage.js';

/** Longer than a record usually waits until it is written. */
const RECHECK_MS = 150;

/** Finds the receipts of streams in the ledger. */
@Injectable()
export class StreamReceipts {
  constructor(
    private readonly streams: RecentStreams,
    private readonly interrupted: InterruptedStreams,
  ) {}

  /**
   * Returns the receipt of the account's stream with this request id. If the account has used the id several times, the
   * receipt is about the latest stream that is over. `undefined`: the account has no such stream, or the stream still runs.
   *
   * A missing record may belong to a stream that has just ended, or to a process that was killed. Therefore the method looks
   * for both before it gives up.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async find(accountId: string, requestId: string): Promise<Receipt | undefined> {
    const found = await this.streams.receipt(accountId, requestId);
    if (found !== undefined) return found;
    await Promise.all([this.interrupted.checkSoon(), sleep(RECHECK_MS)]);
    return this.streams.receipt(accountId, requestId);
  }
}

const LOOKUPS_PER_ACCOUNT = 20;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits the concurrent lookups of receipts of each account, so that one account cannot occupy the connections to the
 * database. Lookups beyond the limit fail with `concurrency_limit_exceeded`.
 */
@Injectable()
export class ReceiptSemaphore extends KeyedSemaphore {
  constructor(shedLoad: ShedLoad) {
    super({ permits: Infinity, perKey: LOOKUPS_PER_ACCOUNT }, () => {
      shedLoad.count('usage_reports');
      const message = `An account can request at most ${LOOKUPS_PER_ACCOUNT} receipts at the same time.`;
      return new ServiceError('concurrency_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    });
  }
}
