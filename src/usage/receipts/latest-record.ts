import type { DataSource } from 'typeorm';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { engineOf, queryRows } from '../../database/queries/statements.js';
import { ledgerText } from '../store/ledger-text.js';

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
