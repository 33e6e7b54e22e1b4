import { ServiceError } from '../../common/service-error.js';
import { codeOf } from '../database-error.js';

const UNIQUE_VIOLATIONS = new Set(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505']);
const FOREIGN_KEY_VIOLATIONS = new Set(['SQLITE_CONSTRAINT_FOREIGNKEY', '23503']);
/** Classes of SQLSTATE: cardinality, data, constraints, a check of a view, and limits such as the size of an index row. */
const DATA_FAILURE_OF_POSTGRES = /^(?:21|22|23|44|54)[0-9A-Z]{3}$/;
const DATA_FAILURE_OF_SQLITE = /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)(?:_|$)/;
/** A serialization failure and a deadlock: the server cancels one of two statements, which succeeds when it is tried again. */
const LOST_RACES = new Set(['40001', '40P01']);

/** Whether a statement failed because of its values, so that a retry fails again. */
export function isDataFailure(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return DATA_FAILURE_OF_POSTGRES.test(code) || DATA_FAILURE_OF_SQLITE.test(code);
}

/** Whether a statement failed only because of another statement at the same time, so that a retry can succeed. */
export function isLostRace(error: unknown): boolean {
  return LOST_RACES.has(codeOf(error) ?? '');
}

/** Whether a statement failed because the value is taken. */
export function isUniqueViolation(error: unknown): boolean {
  return UNIQUE_VIOLATIONS.has(codeOf(error) ?? '');
}

/** Whether a statement failed because the row that it points to does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return FOREIGN_KEY_VIOLATIONS.has(codeOf(error) ?? '');
}

/**
 * The outcome of a query, with every failure told as `unavailable`. Violated constraints pass through: they are answers,
 * not failures.
 *
 * @example const account = await orUnavailable(this.accounts.findOneBy({ email }));
 */
export async function orUnavailable<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error)) throw error;
    throw new ServiceError('unavailable', 'The service cannot reach its database right now.', {
      cause: error,
      retryAfterSeconds: 1,
    });
  }
}
