import { ServiceError } from '../../common/service-error.js';

/** Returns `undefined` instead of the error `not_found`. */
export async function orUndefined<T>(found: Promise<T>): Promise<T | undefined> {
  try {
    return await found;
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'not_found') return undefined;
    throw error;
  }
}
