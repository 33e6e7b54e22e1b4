import type { Statement } from '../../database/queries/atomic-statements.js';
import type { CurrentBudget } from './current-budget.js';

/** Money that a stream reserves, or that the streams of a busy caller share. */
export interface BudgetHold {
  /** The id of the record that the stream will get, or the id of a shared hold. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly micros: number;
  /** How much the budgets must have left besides this hold. By default `micros`. */
  readonly needed?: number | undefined;
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

/** Selects what each API key of the account has spent in the period of the budget, and what its running streams have reserved. */
export function selectUseOfKeys(budget: CurrentBudget, currency: string, expired: string): Statement {
  return {
    sql: `SELECT COALESCE(api_keys.origin_id, used.key_id) AS owner, SUM(used.spent) AS spent, SUM(used.reserved) AS reserved
      FROM (
        SELECT key_id, cost_micros AS spent, 0 AS reserved FROM usage_days
          WHERE account_id = :accountId AND day >= :from AND day < :until AND currency = :currency
        UNION ALL
        SELECT key_id, 0, micros FROM budget_holds WHERE account_id = :accountId AND renewed_at > :expired
      ) AS used LEFT JOIN api_keys ON api_keys.id = used.key_id
      GROUP BY COALESCE(api_keys.origin_id, used.key_id)`,
    parameters: parametersOf(budget, currency, expired, ''),
  };
}

/** Adds or replaces a hold if all budgets have enough left. One statement sees a stream either as reserved or as spent. */
export function insertHold(
  hold: BudgetHold,
  budgets: readonly CurrentBudget[],
  currency: string,
  now: string,
  expired: string,
): Statement {
  const conditions = budgets.map((budget, n) => {
    const ofKey = budget.key === undefined ? '' : OF_KEY;
    const use = `${SPENT}${ofKey}) + ${RESERVED}${ofKey} AND id <> :id)`;
    return named(`${use} + CAST(:needed AS double precision) <= CAST(:most AS double precision)`, String(n));
  });
  const ofBudgets = budgets.map((budget, n) => ({
    ...parametersOf(budget, currency, expired, String(n)),
    [`most${n}`]: String(budget.micros),
  }));
  return {
    sql: `INSERT INTO budget_holds (id, account_id, key_id, micros, renewed_at)
      SELECT :id, :account, :keyId, CAST(:micros AS double precision), :now
      WHERE ${['true', ...conditions].join(' AND ')}
      ON CONFLICT (id) DO UPDATE SET micros = excluded.micros, renewed_at = excluded.renewed_at RETURNING id`,
    parameters: {
      ...Object.assign({}, ...ofBudgets),
      ...{ id: hold.id, account: hold.accountId, keyId: hold.keyId ?? null, micros: String(hold.micros), now },
      ...(budgets.length > 0 && { needed: String(hold.needed ?? hold.micros) }),
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
