import { ServiceError } from '../../common/service-error.js';
import { within } from '../../common/timers/within.js';
import { codeOf } from '../database-error.js';
import type { DatabasePresence } from '../database-presence.js';
import { isLostConnection } from '../postgres/lost-connection.js';

/** After this time without an answer, the probe is asked whether the database is there. */
const DOUBT_AFTER_MS = 250;
/** An answer that took longer tells of the past: a credential may have been revoked meanwhile. */
const LONGEST_MS = 1000;
/** One lost connection says little about the next one. */
const MAX_ATTEMPTS = 3;
const RETRY_AFTER_SECONDS = 1;

/** The database is away: it refuses connections, has lost them, or is silent on one that nothing else uses. */
export class DatabaseAway extends Error {
  constructor(cause: unknown) {
    super('The database is away.', { cause });
    this.name = 'DatabaseAway';
  }
}

class TooSlow extends Error {
  constructor() {
    super('The database did not answer within a second.');
    this.name = 'TooSlow';
  }
}

/**
 * The outcome of a query, at most a second old.
 *
 * @throws {DatabaseAway} when the database is away.
 * @throws {ServiceError} `unavailable` when the database is there, but slow or failing.
 */
export async function queryInTime<T>(query: () => Promise<T>, presence: DatabasePresence): Promise<T> {
  let failure: unknown;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    const askedAt = performance.now();
    try {
      const outcome = await within(unlessAway(query(), presence), LONGEST_MS, () => new TooSlow());
      // When this process was busy, an answer that came in time may be read late. It is asked for again.
      if (performance.now() - askedAt <= LONGEST_MS) return outcome;
      failure = new TooSlow();
    } catch (error) {
      if (error instanceof DatabaseAway) throw error;
      failure = error;
      if ((await presence.check()) === 'away') throw new DatabaseAway(error);
      if (!isWorthRetrying(error)) break;
    }
  }
  throw new ServiceError('unavailable', 'The database of the service is too slow right now. Try again in a moment.', {
    cause: failure,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}

async function unlessAway<T>(work: Promise<T>, presence: DatabasePresence): Promise<T> {
  const doubt = new TooSlow();
  try {
    return await within(work, DOUBT_AFTER_MS, () => doubt);
  } catch (error) {
    if (error !== doubt) throw error;
  }
  const verdict = presence.check().then((state) => {
    if (state === 'away') throw new DatabaseAway(doubt);
    return work;
  });
  return Promise.race([work, verdict]);
}

/** Failures without a code are of the client library, which has given up the connection. */
function isWorthRetrying(error: unknown): boolean {
  if (error instanceof TooSlow) return false;
  return codeOf(error) === undefined || isLostConnection(error);
}
