import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { tierNamed, type Account } from '../../accounts/account/account.entity.js';
import type { ListedApiKey } from '../../accounts/api-keys/api-keys.service.js';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import type { BudgetPeriod } from '../../platform/config/limits/budget.js';
import type { Row } from '../../platform/database/queries/atomic-statements.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { queryRows } from '../../platform/database/queries/statements.js';
import { selectUse, selectUseOfKeys, currentBudget } from './budget-statements.js';
import { budgetState, type BudgetState } from './spend-budgets.js';

/** Reads budgets for lists of keys and of accounts. */
@Injectable()
export class ListedBudgets {
  constructor(
    private readonly database: DataSource,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Returns the budgets by the id of the key. A key without a budget of its own is missing. Rotated keys share the budget of the
   * first key.
   *
   * @throws {ServiceError} `unavailable` when the database is unavailable.
   */
  async ofKeys(accountId: string, keys: readonly ListedApiKey[]): Promise<ReadonlyMap<string, BudgetState>> {
    const found = new Map<string, BudgetState>();
    for (const period of ['month', 'day'] as const) {
      const ofPeriod = keys.filter((key) => key.budgetMicros !== null && (key.budgetPer ?? 'month') === period);
      if (ofPeriod.length > 0) await this.readInto(found, accountId, ofPeriod, period);
    }
    return found;
  }

  /** Returns the budgets of the accounts by id, without those of their keys. Throws the same error. */
  async ofAccounts(accounts: readonly Pick<Account, 'id' | 'tier'>[]): Promise<ReadonlyMap<string, BudgetState>> {
    const found = new Map<string, BudgetState>();
    const { currency } = this.config;
    for (const { id, tier } of accounts) {
      const { budget } = tierNamed(this.config, tier);
      if (budget === undefined) continue;
      const current = currentBudget(budget, { accountId: id, key: undefined }, this.now());
      const { sql, parameters } = selectUse(current, currency);
      const [use] = await orUnavailable(queryRows<Row>(this.database, sql, parameters));
      found.set(id, budgetState(current, use, currency));
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
    const { sql, parameters } = selectUseOfKeys(budget, currency);
    const rows = await orUnavailable(queryRows<Row>(this.database, sql, parameters));
    // The owner is the first key of a chain of rotated keys.
    const uses = new Map(rows.map((row) => [row['owner'], row]));
    for (const { id, originId, budgetMicros } of keys) {
      found.set(id, budgetState({ ...budget, micros: budgetMicros ?? 0 }, uses.get(originId ?? id), currency));
    }
  }
}
