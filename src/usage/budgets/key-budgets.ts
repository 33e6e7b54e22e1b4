import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { CLOCK, type Clock } from '../../common/clock.js';
import { CONFIG, type Config } from '../../config/config.js';
import type { BudgetPeriod } from '../../config/limits/budget.js';
import type { Row } from '../../database/queries/atomic-statements.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { queryRows } from '../../database/queries/statements.js';
import { selectUseOfKeys } from './budget-statements.js';
import { currentBudget } from './current-budget.js';
import { RunningHolds } from './running-holds.js';
import { budgetState, type BudgetState } from './spend-budgets.js';

/** Reads the budgets of the API keys of an account, for lists of keys. */
@Injectable()
export class KeyBudgets {
  constructor(
    private readonly database: DataSource,
    private readonly running: RunningHolds,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Returns the budgets by the id of the key. A key without a budget of its own is missing. Rotated keys share the budget of the
   * first key.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async of(accountId: string, keys: readonly ListedApiKey[]): Promise<ReadonlyMap<string, BudgetState>> {
    const found = new Map<string, BudgetState>();
    for (const period of ['month', 'day'] as const) {
      const ofPeriod = keys.filter((key) => key.budgetMicros !== null && (key.budgetPer ?? 'month') === period);
      if (ofPeriod.length > 0) await this.readInto(found, accountId, ofPeriod, period);
    }
    return found;
  }

  private async readInto(
    found: Map<string, BudgetState>,
    accountId: string,
    keys: readonly ListedApiKey[],
    per: BudgetPeriod,
  ): Promise<void> {
    const { currency } = this.config;
    const now = this.now();
    const budget = currentBudget({ micros: 0, per }, { accountId, key: undefined }, now);
    const { sql, parameters } = selectUseOfKeys(budget, currency, this.running.expiredAt(now));
    const rows = await orUnavailable(queryRows<Row>(this.database, sql, parameters));
    // The owner is the first key of a chain of rotated keys.
    const uses = new Map(rows.map((row) => [row['owner'], row]));
    for (const { id, originId, budgetMicros } of keys) {
      found.set(id, budgetState({ ...budget, micros: budgetMicros ?? 0 }, uses.get(originId ?? id), currency));
    }
  }
}
