import { ServiceError } from '../../common/service-error.js';
import { withTimeout } from '../../common/timers/timeouts.js';
import { codeOf, isLostConnection } from '../database-error.js';
import type { DatabaseAvailability } from '../database-availability.js';

/** If there is no answer after this time, the probe checks whether the database is available. */
const DOUBT_AFTER_MS = 250;
/** A slower answer is discarded because it may be outdated: a credential may have been revoked meanwhile. */
const QUERY_TIMEOUT_MS = 1000;
/** A query is retried after a lost connection, because the next connection may work. */
const MAX_ATTEMPTS = 3;
const RETRY_AFTER_SECONDS = 1;

/**
 * The database is unavailable: it refuses connections, has lost them, or does not answer on a connection that no other
 * query uses.
 */
export class DatabaseUnavailable extends Error {
  constructor(cause: unknown) {
    super('The database is unavailable.', { cause });
    this.name = 'DatabaseUnavailable';
  }
}

class TooSlow extends Error {
  constructor() {
    super('The database did not answer within a second.');
    this.name = 'TooSlow';
  }
}

/**
 * Returns the outcome of a query. The outcome is at most a second old.
 *
 * @throws {DatabaseUnavailable} if the database is unavailable.
 * @throws {ServiceError} `unavailable` if the database is available, but slow or failing.
 */
export async function queryInTime<T>(query: () => Promise<T>, availability: DatabaseAvailability): Promise<T> {
  let failure: unknown;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const startedAt = performance.now();
    try {
      const outcome = await withTimeout(
        unlessUnavailable(query(), availability),
        QUERY_TIMEOUT_MS,
        () => new TooSlow(),
      );
      // If this process was busy, it may read a timely answer too late. The query is then repeated.
      if (performance.now() - startedAt <= QUERY_TIMEOUT_MS) return outcome;
      failure = new TooSlow();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      failure = error;
      if ((await availability.check()) === 'unavailable') throw new DatabaseUnavailable(error);
      if (!isWorthRetrying(error)) break;
    }
  }
  throw new ServiceError('unavailable', 'The database is too slow right now. Try again in a moment.', {
    cause: failure,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

async function unlessUnavailable<T>(work: Promise<T>, availability: DatabaseAvailability): Promise<T> {
  const doubt = new TooSlow();
  try {
    return await withTimeout(work, DOUBT_AFTER_MS, () => doubt);
  } catch (error) {
    if (error !== doubt) throw error;
  }
  const verdict = availability.check().then((state) => {
    if (state === 'unavailable') throw new DatabaseUnavailable(doubt);
    return work;
  });
  return Promise.race([work, verdict]);
}

/**
 * Whether a failed query is worth a retry. A failure without a code comes from the client library, which has closed the
 * connection.
 */
function isWorthRetrying(error: unknown): boolean {
  if (error instanceof TooSlow) return false;
  return codeOf(error) === undefined || isLostConnection(error);
}
