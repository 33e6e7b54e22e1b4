import type { DataSource } from 'typeorm';

export {
  interruptedRecord as interrupted,
  RECORDS_DAY as TODAY,
  TEST_ATTEMPT as ATTEMPT,
  testStartedStream as started,
  testUsageRecord as over,
} from '../../support/usage-records.js';

const isMoment = (column: string) => column.endsWith('_at');
const isCount = (column: string) => column.endsWith('_tokens');

/** The rows of the ledger by column. Both engines give the same types: dates for moments, numbers for counts. */
export async function storedRecords(source: DataSource): Promise<Record<string, unknown>[]> {
  const rows = await source.query<Record<string, string | number | null>[]>('SELECT * FROM usage_records');
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([column, value]): [string, unknown] => {
        if (value !== null && isMoment(column)) return [column, new Date(value)];
        return [column, value !== null && isCount(column) ? Number(value) : value];
      }),
    ),
  );
}
