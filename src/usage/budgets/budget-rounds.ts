import { Inject, Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { tierNamed } from '../../accounts/account/tier.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { hourly } from '../../common/timers/rounds.js';
import { CONFIG, type Config } from '../../config/config.js';
import type { BudgetPeriod } from '../../config/limits/budget.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { queryRows } from '../../database/queries/statements.js';
import { BudgetEvents } from './budget-events.js';
import { currentBudget, type CurrentBudget } from './current-budget.js';

const FIRST_ROUND_AFTER_MS = 20_000;
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
export class BudgetRounds implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly rounds = hourly(
    () => this.check(),
    new Logger('BudgetEvents'),
    'Budgets cannot be compared with the ledger',
  );

  constructor(
    private readonly database: DataSource,
    private readonly events: BudgetEvents,
    private readonly presence: DatabasePresence,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  onApplicationBootstrap(): void {
    this.rounds.start(FIRST_ROUND_AFTER_MS);
  }

  onApplicationShutdown(): void {
    void this.rounds.stop();
  }

  /** Publishes the events of all budgets that are due. Events that were published before change nothing. */
  async check(): Promise<void> {
    if (!this.events.isWanted || this.presence.isUnavailable) return;
    await this.checkAll('SELECT id, tier FROM accounts WHERE true');
    await this.checkAll(
      `SELECT id, account_id, origin_id, budget_micros, budget_per FROM api_keys
        WHERE budget_micros IS NOT NULL AND revoked_at IS NULL`,
    );
  }

  private async checkAll(select: string): Promise<void> {
    const sql = `${select} AND id > :after ORDER BY id LIMIT ${ROWS_PER_STATEMENT}`;
    let after = '';
    for (;;) {
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
