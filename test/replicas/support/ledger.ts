import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** How many streams of the account ended in each way, as the ledger says. */
export async function outcomesOf(app: INestApplicationContext, accountId: string): Promise<Record<string, number>> {
  const rows = await app
    .get(DataSource)
    .query<{ outcome: string; count: number }[]>(
      'SELECT outcome, COUNT(*)::int AS count FROM usage_records WHERE account_id = $1 GROUP BY outcome',
      [accountId],
    );
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]));
}
