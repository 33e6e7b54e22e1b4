import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { HOUR_MS } from '../../platform/common/clock.js';
import { ownTurn } from '../../platform/common/event-loop/event-loop-turns.js';
import { RECORD_FIGURES } from '../../platform/database/migrations/usage-day-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { queryRows } from '../../platform/database/queries/statements.js';
import { ledgerText } from '../store/ledger-text.js';
import type { DaySums } from './usage-sums.js';
import { usageRowOf, type UsageRow } from './usage-reports.js';

const SUMS = `SELECT model, COALESCE(key_id, '') AS key_id, credential, COALESCE(currency, '') AS currency,
    MAX(COALESCE(key_prefix, '')) AS key_prefix,
    ${Object.entries(RECORD_FIGURES)
      .map(([name, amount]) => `SUM(${amount}) AS ${name}`)
      .join(', ')}
  FROM usage_records r WHERE account_id = :accountId AND started_at >= :from AND started_at < :to
  GROUP BY model, key_id, credential, currency`;

/** Adds up the records of one account by hour, for short periods. Records can be deleted earlier than the daily sums. */
@Injectable()
export class HourSums {
  constructor(private readonly database: DataSource) {}

  /**
   * Returns the usage of each hour, as the daily sums have it. One statement reads one hour, because SQLite blocks the process.
   *
   * @param hours the starts of the hours in ISO 8601. They are the `day` of the rows.
   */
  async *pages(hours: readonly string[], accountId: string): AsyncGenerator<readonly UsageRow[], void> {
    for (const hour of hours) {
      await ownTurn();
      const to = new Date(Date.parse(hour) + HOUR_MS).toISOString();
      const parameters = { accountId: ledgerText(accountId), from: hour, to };
      const rows = await orUnavailable(queryRows<Omit<DaySums, 'day' | 'account_id'>>(this.database, SUMS, parameters));
      yield rows.map((row) => usageRowOf({ ...row, day: hour, account_id: accountId }));
    }
  }
}
