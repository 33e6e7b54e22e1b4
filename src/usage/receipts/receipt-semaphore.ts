import { Injectable } from '@nestjs/common';
import { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';

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
