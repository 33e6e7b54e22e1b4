import type { BudgetPeriod } from '../../config/limits/budget.js';
import type { Statement } from '../../database/queries/atomic-statements.js';

/** An account, or one API key of the account with the keys that it replaced. */
export interface BudgetOwner {
  readonly accountId: string;
  /** The first key of a chain of rotated keys. `undefined`: the whole account. */
  readonly key: string | undefined;
}

/** A budget in the current period. Days are `YYYY-MM-DD` in UTC. */
export interface CurrentBudget extends BudgetOwner {
  readonly micros: number;
  readonly per: BudgetPeriod;
  readonly from: string;
  readonly until: string;
  readonly resetsAt: number;
}

/** Money that a stream reserves. */
export interface BudgetHold {
  /** The id of the record that the stream will get. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly micros: number;
}

const SPENT = `(SELECT COALESCE(SUM(cost_micros), 0) FROM usage_days
  WHERE account_id = :accountId AND day >= :from AND day < :until AND currency = :currency`;
const RESERVED = `(SELECT COALESCE(SUM(micros), 0) FROM budget_holds
  WHERE account_id = :accountId AND renewed_at > :expired`;
const OF_KEY = ` AND key_id IN (SELECT :key UNION ALL SELECT id FROM api_keys WHERE account_id = :accountId AND origin_id = :key)`;

/** Selects what is spent in the period, and what running streams have reserved. */
export function selectUse(budget: CurrentBudget, currency: string, expired: string): Statement {
  const ofKey = budget.key === undefined ? '' : OF_KEY;
  const sql = `SELECT ${SPENT}${ofKey}) AS spent, ${RESERVED}${ofKey}) AS reserved`;
  return { sql: named(sql, ''), parameters: parametersOf(budget, currency, expired, '') };
}

/** Adds a hold if all budgets have enough left. One statement sees a stream either as reserved or as spent. */
export function insertHold(
  hold: BudgetHold,
  budgets: readonly CurrentBudget[],
  currency: string,
  now: string,
  expired: string,
): Statement {
  const conditions = budgets.map((budget, n) => {
    const ofKey = budget.key === undefined ? '' : OF_KEY;
    const use = `${SPENT}${ofKey}) + ${RESERVED}${ofKey})`;
    return named(`${use} + CAST(:micros AS double precision) <= CAST(:most AS double precision)`, String(n));
  });
  const ofBudgets = budgets.map((budget, n) => ({
    ...parametersOf(budget, currency, expired, String(n)),
    [`most${n}`]: String(budget.micros),
  }));
  return {
    sql: `INSERT INTO budget_holds (id, account_id, key_id, micros, renewed_at)
      SELECT :id, :account, :keyId, CAST(:micros AS double precision), :now
      WHERE ${conditions.join(' AND ')} RETURNING id`,
    parameters: {
      ...Object.assign({}, ...ofBudgets),
      ...{ id: hold.id, account: hold.accountId, keyId: hold.keyId ?? null, micros: String(hold.micros), now },
    } as Statement['parameters'],
  };
}

/** Replaces what a hold reserves by the cost of its stream, which the ledger has not stored yet. */
export function updateHold(id: string, micros: number): Statement {
  return {
    sql: 'UPDATE budget_holds SET micros = CAST(:micros AS double precision) WHERE id = :id RETURNING id',
    parameters: { id, micros: String(micros) },
  };
}

export function deleteHold(id: string): Statement {
  return { sql: 'DELETE FROM budget_holds WHERE id = :id RETURNING id', parameters: { id } };
}

/** Gives the parameters of a budget a name of their own. */
function named(sql: string, suffix: string): string {
  return sql.replaceAll(/:(accountId|from|until|currency|expired|key|most)\b/g, `:$1${suffix}`);
}

function parametersOf(
  { accountId, key, from, until }: CurrentBudget,
  currency: string,
  expired: string,
  suffix: string,
): Statement['parameters'] {
  const values = { accountId, from, until, currency, expired, ...(key !== undefined && { key }) };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name + suffix, value]));
}
