import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { tierNamed } from '../../accounts/account/account.entity.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { BudgetPeriod } from '../../platform/config/limits/budget.js';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { queryRows } from '../../platform/database/queries/statements.js';
import { BudgetEvents } from './budget-events.js';
import { currentBudget, type CurrentBudget } from './budget-statements.js';

const ROWS_PER_STATEMENT = 200;

interface AccountRow {
  readonly id: string;
  readonly tier: string;
}

interface KeyRow {
  readonly id: string;
  readonly account_id: string;
  readonly origin_id: string | null;
  readonly budget_micros: number;
  readonly budget_per: BudgetPeriod | null;
}

/**
 * Compares all budgets with the ledger, once an hour and after each start: a process that was killed between the record of a stream
 * and the event loses no event. Does nothing if no webhook wants the events.
 */
@Injectable()
export class BudgetChecks {
  constructor(
    private readonly database: DataSource,
    private readonly events: BudgetEvents,
    private readonly availability: DatabaseAvailability,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
    jobs: HourlyJobs,
  ) {
    jobs.add('Compares the budgets with the ledger', async (signal) => {
      await this.check(signal);
      return false;
    });
  }

  /** Publishes the events of all budgets that are due. Events that were published before change nothing. */
  async check(signal?: AbortSignal): Promise<void> {
    if (!this.events.isWanted || this.availability.isUnavailable) return;
    await this.checkAll('SELECT id, tier FROM accounts WHERE true', signal);
    await this.checkAll(
      `SELECT id, account_id, origin_id, budget_micros, budget_per FROM api_keys
        WHERE budget_micros IS NOT NULL AND revoked_at IS NULL`,
      signal,
    );
  }

  private async checkAll(select: string, signal: AbortSignal | undefined): Promise<void> {
    const sql = `${select} AND id > :after ORDER BY id LIMIT ${ROWS_PER_STATEMENT}`;
    let after = '';
    while (signal?.aborted !== true) {
      const rows = await queryRows<AccountRow | KeyRow>(this.database, sql, { after });
      for (const row of rows) {
        const budget = this.budgetOf(row);
        if (budget !== undefined) await this.events.check(budget);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < ROWS_PER_STATEMENT) return;
      after = last.id;
    }
  }

  private budgetOf(row: AccountRow | KeyRow): CurrentBudget | undefined {
    const now = this.now();
    if ('tier' in row) {
      const { budget } = tierNamed(this.config, row.tier);
      return budget && currentBudget(budget, { accountId: row.id, key: undefined }, now);
    }
    const { id, account_id: accountId, origin_id: origin, budget_micros: micros, budget_per: per } = row;
    return currentBudget({ micros, per: per ?? 'month' }, { accountId, key: origin ?? id }, now);
  }
}
