import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { InterruptedStreams } from '../ledger/interrupted-streams.js';
import { receiptOf, type ReceiptRow } from './receipt-row.js';
import type { StreamReceipt } from './stream-receipt.dto.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { engineOf, queryRows } from '../../platform/database/queries/statements.js';
import { ledgerText } from '../store/ledger-text.js';
import { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';

/** Longer than a record usually waits until it is written. */
const RECHECK_MS = 150;

/** Finds the receipts of streams in the ledger. */
@Injectable()
export class StreamReceipts {
  constructor(
    private readonly database: DataSource,
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
  async find(accountId: string, requestId: string): Promise<StreamReceipt | undefined> {
    const found = await this.read(accountId, requestId);
    if (found !== undefined) return found;
    await Promise.all([this.interrupted.checkSoon(), sleep(RECHECK_MS)]);
    return this.read(accountId, requestId);
  }

  private async read(accountId: string, requestId: string): Promise<StreamReceipt | undefined> {
    const row = await latestRecord<ReceiptRow>(this.database, accountId, requestId);
    return row && receiptOf(row);
  }
}

const LATEST = {
  sqlite: `SELECT * FROM usage_records WHERE account_id = :account AND request_id = :request ORDER BY id DESC LIMIT 1`,
  // PostgreSQL would read the ids of all accounts backwards for an order by `id`. Only the index has this order.
  postgres: `SELECT * FROM (SELECT * FROM usage_records WHERE (account_id, request_id) <= (:account, :request)
    ORDER BY account_id DESC, request_id DESC, id DESC LIMIT 1) AS latest
    WHERE account_id = :account AND request_id = :request`,
};

/**
 * Returns the latest record of the account with this request id. The client chooses the request id, so one id can have any
 * number of records: an index has them in this order.
 *
 * @throws {ServiceError} `unavailable` when the database is unavailable.
 */
export async function latestRecord<Row>(
  database: DataSource,
  accountId: string,
  requestId: string,
): Promise<Row | undefined> {
  const parameters = { account: ledgerText(accountId), request: ledgerText(requestId) };
  const [row] = await orUnavailable(queryRows<Row>(database, LATEST[engineOf(database)], parameters));
  return row;
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
