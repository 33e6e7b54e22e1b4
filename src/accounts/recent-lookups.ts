import type { Clock } from '../common/clock.js';
import { ServiceError } from '../common/service-error.js';
import { RecentMap } from './recent-map.js';

/** What ends is refused within a second everywhere, so what is remembered must be younger than that. */
const REMEMBERED_MS = 500;
/** While the database is away, what was learnt within this time goes on. */
const TRUSTED_WHILE_AWAY_MS = 5 * 60_000;
const MAX_REMEMBERED = 10_000;
/** Nobody waits longer for a database that does not answer. */
const PATIENCE_MS = 2_000;
/** After a failure, for this long nobody waits who need not. */
const AWAY_MS = 1_000;

/**
 * Answers of the database about credentials, each remembered for half a second. Callers that ask for the same at once
 * share one query. While the database is away, those it has vouched for within the last minutes go on.
 */
export class RecentLookups<V> {
  private readonly remembered = new RecentMap<string, V>(MAX_REMEMBERED);
  private readonly pending = new Map<string, Promise<V | undefined>>();
  private awayUntil = 0;

  constructor(
    private readonly lookUp: (id: string) => Promise<V | undefined>,
    private readonly now: Clock,
  ) {}

  /** @throws {ServiceError} `unavailable` when the database does not answer, as that says nothing about the credential. */
  async get(id: string): Promise<V | undefined> {
    const now = this.now();
    const fresh = this.remembered.get(id, now - REMEMBERED_MS);
    if (fresh !== undefined) return fresh;
    const trusted = this.remembered.get(id, now - TRUSTED_WHILE_AWAY_MS);
    const lookup = this.lookUpOnce(id);
    if (trusted !== undefined && now < this.awayUntil) {
      lookup.catch(() => undefined);
      return trusted;
    }
    try {
      return await inTime(lookup);
    } catch (error) {
      this.awayUntil = this.now() + AWAY_MS;
      // Asked again, as it may have been forgotten meanwhile.
      const still = this.remembered.get(id, now - TRUSTED_WHILE_AWAY_MS);
      if (still === undefined) throw error;
      return still;
    }
  }

  /** Drops what is remembered. */
  forget(id: string): void {
    this.remembered.delete(id);
    this.pending.delete(id);
  }

  private lookUpOnce(id: string): Promise<V | undefined> {
    const pending = this.pending.get(id);
    if (pending !== undefined) return pending;
    const askedAt = this.now();
    const lookup = this.lookUp(id)
      .then((found) => {
        // A lookup that was forgotten meanwhile may have read the row before it changed.
        if (this.pending.get(id) !== lookup) return found;
        if (found === undefined) this.remembered.delete(id);
        else this.remembered.set(id, found, askedAt);
        return found;
      })
      .finally(() => {
        if (this.pending.get(id) === lookup) this.pending.delete(id);
      });
    this.pending.set(id, lookup);
    return lookup;
  }
}

async function inTime<T>(lookup: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new ServiceError('unavailable', 'The service cannot reach its database right now.', { retryAfterSeconds: 1 }),
      );
    }, PATIENCE_MS);
  });
  try {
    return await Promise.race([lookup, limit]);
  } finally {
    clearTimeout(timer);
  }
}
