import { ServiceError } from '../../common/service-error.js';
import { codeOf } from '../database-error.js';

const UNIQUE_VIOLATIONS = new Set(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505']);
const FOREIGN_KEY_VIOLATIONS = new Set(['SQLITE_CONSTRAINT_FOREIGNKEY', '23503']);
/** SQLSTATE classes: cardinality, data, constraints, the check of a view, and limits such as the size of an index row. */
const DATA_FAILURE_OF_POSTGRES = /^(?:21|22|23|44|54)[0-9A-Z]{3}$/;
const DATA_FAILURE_OF_SQLITE = /^SQLITE_(?:CONSTRAINT|MISMATCH|RANGE|TOOBIG)(?:_|$)/;
/**
 * A serialization failure and a deadlock. The server cancels one of two statements, and a retry of that statement succeeds.
 */
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

/** Whether a statement failed because the value must be unique and already exists. */
export function isUniqueViolation(error: unknown): boolean {
  return UNIQUE_VIOLATIONS.has(codeOf(error) ?? '');
}

/** Whether a statement failed because the referenced row does not exist. */
export function isForeignKeyViolation(error: unknown): boolean {
  return FOREIGN_KEY_VIOLATIONS.has(codeOf(error) ?? '');
}

/**
 * Returns the outcome of a query, and converts every failure to `unavailable`. Violations of a unique or foreign key
 * constraint are rethrown unchanged, because callers handle them as results.
 *
 * @throws {ServiceError} `unavailable` for every other failure.
 *
 * @example const account = await orUnavailable(this.accounts.findOneBy({ email }));
 */
export async function orUnavailable<T>(query: Promise<T>): Promise<T> {
  try {
    return await query;
  } catch (error) {
    if (isUniqueViolation(error) || isForeignKeyViolation(error)) throw error;
    throw databaseUnavailable(error);
  }
}

/** Creates the error for a request that needs the database while the database is unavailable. */
export function databaseUnavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The database is unavailable. Try again in a moment.', {
    cause,
    retryAfterSeconds: 1,
  });
}
