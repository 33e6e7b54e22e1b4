import { RedisUnavailable } from '../../../../redis/redis-errors.js';
import { ServiceError } from '../../../../common/service-error.js';

const RETRY_AFTER_SECONDS = 1;

/** Converts an outage of Redis to the error that a client gets. */
export async function orUnavailable<T>(commands: Promise<T>): Promise<T> {
  try {
    return await commands;
  } catch (error) {
    if (!(error instanceof RedisUnavailable)) throw error;
    throw unavailable(error);
  }
}

export function unavailable(cause?: unknown): ServiceError {
  return new ServiceError('unavailable', 'Durable streams are not available right now. Try again.', {
    cause,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
