import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pageByTime, type Condition, type TimePosition } from '../../database/queries/page-by-time.js';
import { latestRecord } from '../receipts/latest-record.js';
import { receiptOf, type ReceiptRow } from '../receipts/receipt-row.js';
import type { StreamReceipt } from '../receipts/stream-receipt.dto.js';
import type { UsageClient } from '../record/usage-record.js';
import { ledgerText } from '../store/ledger-text.js';

/** A receipt with the credential that the stream used. */
export interface ListedStream extends StreamReceipt {
  readonly credential: UsageClient['credential'];
  readonly keyId: string | null;
  readonly keyPrefix: string | null;
  /** The error code that the client received, if there was one. */
  readonly errorCode: string | null;
}

/** Which streams a list has. A member that is `undefined` does not restrict the list. */
export interface StreamFilter {
  readonly from: Date;
  readonly to: Date;
  readonly model?: string | undefined;
  /** The id of an API key, or `session` for the pages of the service. */
  readonly key?: string | undefined;
  readonly credential?: UsageClient['credential'] | undefined;
  /** The list begins with the streams that began before this position. */
  readonly before?: StreamPosition | undefined;
}

/** The position of a stream in the list: the time of its start, and the id of its record. */
export type StreamPosition = TimePosition;

export interface StreamList {
  /** The latest first. */
  readonly streams: readonly ListedStream[];
  /** The position after which the next page begins. `undefined` on the last page. */
  readonly next: StreamPosition | undefined;
}

interface ListedRow extends ReceiptRow {
  readonly id: string;
  readonly credential: UsageClient['credential'];
  readonly key_id: string | null;
  readonly key_prefix: string | null;
  readonly error_code: string | null;
}

/** Reads the single streams of an account from the ledger. */
@Injectable()
export class RecentStreams {
  constructor(private readonly database: DataSource) {}

  /**
   * Returns one page of the list. If few streams pass the filter, a page can have fewer streams than `limit`, and even none,
   * although there is a next page: see {@link pageByTime}.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async list(accountId: string, filter: StreamFilter, limit: number): Promise<StreamList> {
    const { from, to, model, key, credential, before } = filter;
    const begin: TimePosition = { time: to.toISOString(), id: '' };
    const after = before && { time: before.time, id: ledgerText(before.id) };
    const { rows, next } = await pageByTime<ListedRow>(
      this.database,
      {
        table: 'usage_records',
        columns: '*',
        timeColumn: 'started_at',
        scope: [(mark) => `account_id = ${mark(ledgerText(accountId))}`],
        filter: [
          ...(model === undefined ? [] : [equal('model', model)]),
          ...(key === undefined ? [] : [key === 'session' ? equal('credential', key) : equal('key_id', key)]),
          ...(credential === undefined ? [] : [equal('credential', credential)]),
        ],
        end: { time: from.toISOString(), id: '' },
      },
      after === undefined || after.time >= begin.time ? begin : after,
      limit,
    );
    return { streams: rows.map(listedStreamOf), next };
  }

  /** Returns the latest stream of the account with this request id that is over, or `undefined`. */
  async find(accountId: string, requestId: string): Promise<ListedStream | undefined> {
    const row = await latestRecord<ListedRow>(this.database, accountId, requestId);
    return row && listedStreamOf(row);
  }
}

function equal(column: string, value: string): Condition {
  return (mark) => `${column} = ${mark(ledgerText(value))}`;
}

function listedStreamOf(row: ListedRow): ListedStream {
  return {
    // The class of a receipt has no methods: it describes the shape for the OpenAPI document.
    ...(receiptOf(row) satisfies object as Pick<StreamReceipt, keyof StreamReceipt>),
    credential: row.credential,
    keyId: row.key_id,
    keyPrefix: row.key_prefix,
    errorCode: row.error_code,
  };
}
