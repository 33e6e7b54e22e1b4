import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { engineOf, marks } from '../../database/queries/statements.js';
import { receiptOf, type ReceiptRow } from '../receipts/receipt-row.js';
import type { StreamReceipt } from '../receipts/stream-receipt.dto.js';
import type { UsageParty } from '../record/usage-record.js';
import { ledgerText } from '../store/ledger-text.js';

/** A receipt with the credential that the stream used. */
export interface ListedStream extends StreamReceipt {
  readonly credential: UsageParty['credential'];
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
  readonly credential?: UsageParty['credential'] | undefined;
  /** The list begins with the streams before this one. */
  readonly before?: StreamPosition | undefined;
}

/** The place of a stream in the list. Streams can begin at the same time, so the time alone is not a place. */
export interface StreamPosition {
  readonly startedAt: string;
  readonly id: string;
}

export interface StreamList {
  /** The latest first. */
  readonly streams: readonly ListedStream[];
  /** The place at which the next page begins. `undefined` on the last page. */
  readonly next: StreamPosition | undefined;
}

interface ListedRow extends ReceiptRow {
  readonly id: string;
  readonly credential: UsageParty['credential'];
  readonly key_id: string | null;
  readonly key_prefix: string | null;
  readonly error_code: string | null;
}

/** Reads the single streams of an account from the ledger. */
@Injectable()
export class RecentStreams {
  constructor(private readonly database: DataSource) {}

  /** @throws {ServiceError} `unavailable` when the database is unavailable. */
  async list(accountId: string, filter: StreamFilter, limit: number): Promise<StreamList> {
    const { from, to, model, key, credential, before } = filter;
    const engine = engineOf(this.database);
    const values: string[] = [];
    const mark = (value: string): string => marks(engine, 1, values.push(value) - 1);
    const conditions = [
      `account_id = ${mark(ledgerText(accountId))}`,
      `started_at >= ${mark(from.toISOString())}`,
      `started_at < ${mark(to.toISOString())}`,
      ...(model === undefined ? [] : [`model = ${mark(ledgerText(model))}`]),
      ...(key === undefined
        ? []
        : [key === 'session' ? `credential = 'session'` : `key_id = ${mark(ledgerText(key))}`]),
      ...(credential === undefined ? [] : [`credential = ${mark(credential)}`]),
      ...(before === undefined
        ? []
        : [`(started_at, id) < (${mark(before.startedAt)}, ${mark(ledgerText(before.id))})`]),
    ];
    const rows = await orUnavailable(
      this.database.query<ListedRow[]>(
        `SELECT * FROM usage_records WHERE ${conditions.join(' AND ')}
          ORDER BY started_at DESC, id DESC LIMIT ${limit + 1}`,
        values,
      ),
    );
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return {
      streams: rows.slice(0, limit).map(listedStreamOf),
      next: last && { startedAt: last.started_at, id: last.id },
    };
  }

  /** Returns the latest stream of the account with this request id that is over, or `undefined`. */
  async find(accountId: string, requestId: string): Promise<ListedStream | undefined> {
    const engine = engineOf(this.database);
    const [row] = await orUnavailable(
      this.database.query<ListedRow[]>(
        `SELECT * FROM usage_records WHERE account_id = ${marks(engine, 1)} AND request_id = ${marks(engine, 1, 1)}
          ORDER BY started_at DESC, id DESC LIMIT 1`,
        [ledgerText(accountId), ledgerText(requestId)],
      ),
    );
    return row && listedStreamOf(row);
  }
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
