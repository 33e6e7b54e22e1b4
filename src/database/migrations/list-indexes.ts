/** An index of a table that can have millions of rows. */
export interface ListIndex {
  readonly name: string;
  readonly table: string;
  readonly columns: string;
  /** An earlier index of the same table whose columns this index begins with. It is dropped. */
  readonly replaces?: { readonly name: string; readonly columns: string };
}

/**
 * The indexes for lists by time and for receipts. The position of an entry comes first, then the columns of the filters: a
 * statement can skip the entries that do not pass a filter without reading their rows.
 *
 * PostgreSQL limits an index row to about 2,700 bytes. The ledger limits its texts so that three long texts fit.
 */
export const FIRST_LIST_INDEXES: readonly ListIndex[] = [
  {
    name: 'usage_records_by_time',
    table: 'usage_records',
    columns: 'account_id, started_at, id, model, key_id, credential',
    replaces: { name: 'IDX_d6fc4cf37a4e5a856ca694539a', columns: 'account_id, started_at' },
  },
  {
    name: 'usage_records_by_request',
    table: 'usage_records',
    columns: 'account_id, request_id, id',
    replaces: { name: 'usage_records_of_request', columns: 'account_id, request_id' },
  },
  { name: 'accounts_by_time', table: 'accounts', columns: 'created_at, id, tier' },
];

/** The indexes for the lists of operators, which have the streams of all accounts. */
export const OPERATOR_LIST_INDEXES: readonly ListIndex[] = [
  {
    name: 'usage_records_of_all',
    table: 'usage_records',
    columns: 'started_at, id, account_id, model, key_id, outcome',
  },
  { name: 'usage_records_of_request_id', table: 'usage_records', columns: 'request_id, started_at, id' },
];

/** All indexes that the start builds before the migrations. */
export const LIST_INDEXES: readonly ListIndex[] = [...FIRST_LIST_INDEXES, ...OPERATOR_LIST_INDEXES];

/** @param concurrently whether other statements can write to the table meanwhile. Only PostgreSQL supports it. */
export function createIndex({ name, table, columns }: Omit<ListIndex, 'replaces'>, concurrently = false): string {
  return `CREATE INDEX ${concurrently ? 'CONCURRENTLY ' : ''}IF NOT EXISTS "${name}" ON ${table} (${columns})`;
}
