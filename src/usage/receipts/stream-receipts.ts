import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { InterruptedStreams } from '../ledger/interrupted-streams.js';
import { latestRecord } from './latest-record.js';
import { receiptOf, type ReceiptRow } from './receipt-row.js';
import type { StreamReceipt } from './stream-receipt.dto.js';

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
