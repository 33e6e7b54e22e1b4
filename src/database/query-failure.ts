import { ServiceError } from '../common/service-error.js';
import { codeOf } from './database-error.js';

const UNIQUE_VIOLATIONS = new Set(['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY', '23505']);
const FOREIGN_KEY_VIOLATIONS = new Set(['SQLITE_CONSTRAINT_FOREIGNKEY', '23503']);

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
