import type { Statement } from '../../platform/database/queries/atomic-statements.js';
import { utcDay } from '../../platform/common/clock.js';
import { periodOf, type Budget, type BudgetPeriod } from '../../platform/config/limits/budget.js';

/** Money that a stream reserves, or that the streams of a busy caller share. */
export interface BudgetReservation {
  /** The id of the record that the stream will get, or the id of a shared reservation. */
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string | undefined;
  readonly micros: number;
  /** How much the budgets must have left besides this reservation. By default `micros`. */
  readonly needed?: number | undefined;
}

const SPENT = `(SELECT COALESCE(SUM(cost_micros), 0) FROM usage_days
  WHERE account_id = :accountId AND day >= :from AND day < :until AND currency = :currency`;
const RESERVED = `(SELECT COALESCE(SUM(micros), 0) FROM budget_holds
  WHERE account_id = :accountId`;
const OF_KEY = ` AND key_id IN (SELECT :key UNION ALL SELECT id FROM api_keys WHERE account_id = :accountId AND origin_id = :key)`;

/** Selects what is spent in the period, and what running streams have reserved. */
export function selectUse(budget: CurrentBudget, currency: string): Statement {
  const ofKey = budget.key === undefined ? '' : OF_KEY;
  const sql = `SELECT ${SPENT}${ofKey}) AS spent, ${RESERVED}${ofKey}) AS reserved`;
  return { sql: named(sql, ''), parameters: parametersOf(budget, currency, '') };
}

/** Selects what each API key of the account has spent in the period of the budget, and what its running streams have reserved. */
export function selectUseOfKeys(budget: CurrentBudget, currency: string): Statement {
  return {
    sql: `SELECT COALESCE(api_keys.origin_id, used.key_id) AS owner, SUM(used.spent) AS spent, SUM(used.reserved) AS reserved
      FROM (
        SELECT key_id, cost_micros AS spent, 0 AS reserved FROM usage_days
          WHERE account_id = :accountId AND day >= :from AND day < :until AND currency = :currency
        UNION ALL
        SELECT key_id, 0, micros FROM budget_holds WHERE account_id = :accountId
      ) AS used LEFT JOIN api_keys ON api_keys.id = used.key_id
      GROUP BY COALESCE(api_keys.origin_id, used.key_id)`,
    parameters: parametersOf(budget, currency, ''),
  };
}

/** Adds or replaces a reservation if all budgets have enough left. One statement sees a stream either as reserved or as spent. */
export function insertReservation(
  reservation: BudgetReservation,
  budgets: readonly CurrentBudget[],
  currency: string,
  writerId: string,
): Statement {
  const conditions = budgets.map((budget, n) => {
    const ofKey = budget.key === undefined ? '' : OF_KEY;
    const use = `${SPENT}${ofKey}) + ${RESERVED}${ofKey} AND id <> :id)`;
    return named(`${use} + CAST(:needed AS double precision) <= CAST(:most AS double precision)`, String(n));
  });
  const ofBudgets = budgets.map((budget, n) => ({
    ...parametersOf(budget, currency, String(n)),
    [`most${n}`]: String(budget.micros),
  }));
  return {
    sql: `INSERT INTO budget_holds (id, account_id, key_id, micros, writer_id)
      SELECT :id, :account, :keyId, CAST(:micros AS double precision), :writerId
      WHERE ${['true', ...conditions].join(' AND ')}
      ON CONFLICT (id) DO UPDATE SET micros = excluded.micros RETURNING id`,
    parameters: {
      ...Object.assign({}, ...ofBudgets),
      ...{
        id: reservation.id,
        account: reservation.accountId,
        keyId: reservation.keyId ?? null,
        micros: String(reservation.micros),
        writerId,
      },
      ...(budgets.length > 0 && { needed: String(reservation.needed ?? reservation.micros) }),
    } as Statement['parameters'],
  };
}

/** Replaces what a reservation reserves by the cost of its stream, which the ledger has not stored yet. */
export function updateReservation(id: string, micros: number): Statement {
  return {
    sql: 'UPDATE budget_holds SET micros = CAST(:micros AS double precision) WHERE id = :id RETURNING id',
    parameters: { id, micros: String(micros) },
  };
}

export function deleteReservation(id: string): Statement {
  return { sql: 'DELETE FROM budget_holds WHERE id = :id RETURNING id', parameters: { id } };
}

/** Gives the parameters of a budget a name of their own. */
function named(sql: string, suffix: string): string {
  return sql.replaceAll(/:(accountId|from|until|currency|key|most)\b/g, `:$1${suffix}`);
}

function parametersOf(
  { accountId, key, from, until }: CurrentBudget,
  currency: string,
  suffix: string,
): Statement['parameters'] {
  const values = { accountId, from, until, currency, ...(key !== undefined && { key }) };
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name + suffix, value]));
}

/** An account, or one API key of the account with the keys that it replaced. */
export interface RateOwner {
  readonly accountId: string;
  /** The first key of a chain of rotated keys. `undefined`: the whole account. */
  readonly key: string | undefined;
}

/** A budget in the current period. Days are `YYYY-MM-DD` in UTC. */
export interface CurrentBudget extends RateOwner {
  readonly micros: number;
  readonly per: BudgetPeriod;
  readonly from: string;
  readonly until: string;
  readonly resetsAt: number;
}

/** Returns the budget in the period of this moment, in milliseconds since 1970. */
export function currentBudget({ micros, per }: Budget, owner: RateOwner, now: number): CurrentBudget {
  const { from, until } = periodOf(per, now);
  return { ...owner, micros, per, from: utcDay(from), until: utcDay(until), resetsAt: until };
}
