import type { Clock } from '../common/clock.js';
import { ServiceError } from '../common/service-error.js';
import { within } from '../common/within.js';
import { DatabaseAway } from './database-away.js';
import { RecentMap } from './recent-map.js';

/** What ends is refused within a second everywhere, so what is remembered must be younger than that. */
const REMEMBERED_MS = 500;
/** While the database is away, what was learnt within this time goes on. */
const TRUSTED_WHILE_AWAY_MS = 10 * 60_000;
const MAX_REMEMBERED = 50_000;
/** Nobody waits longer for a database that does not answer; while it is known to be away, nobody waits at all. */
const PATIENCE_MS = 1000;

/**
 * Answers of the database about credentials, each remembered for half a second. Callers that ask for the same at once
 * share one query. While the database is away, those it has vouched for within the last minutes go on.
 */
export class RecentLookups<V> {
  private readonly remembered = new RecentMap<string, V>(MAX_REMEMBERED);
  private readonly pending = new Map<string, Promise<V | undefined>>();
  private readonly away: DatabaseAway;

  /** @param what is looked up, in the plural, for the log. */
  constructor(
    what: string,
    private readonly lookUp: (id: string) => Promise<V | undefined>,
    private readonly now: Clock,
  ) {
    this.away = new DatabaseAway(what);
  }

  /** @throws {ServiceError} `unavailable` when the database does not answer, as that says nothing about the credential. */
  async get(id: string): Promise<V | undefined> {
    const fresh = this.remembered.get(id, this.now() - REMEMBERED_MS);
    if (fresh !== undefined) return fresh;
    if (this.away.isAway) return this.trusted(id, unavailable(undefined));
    const lookup = this.lookUpOnce(id);
    try {
      return await within(lookup, PATIENCE_MS, () => unavailable(undefined));
    } catch (error) {
      this.dropPending(id, lookup);
      this.away.begin(() => this.lookUp(id));
      return this.trusted(id, error);
    }
  }

  /** Drops what is remembered. */
  forget(id: string): void {
    this.remembered.delete(id);
    this.pending.delete(id);
  }

  /** Asks no more. */
  stop(): void {
    this.away.end();
  }

  /** What the database said before it went away. */
  private trusted(id: string, failure: unknown): V {
    const known = this.remembered.get(id, this.now() - TRUSTED_WHILE_AWAY_MS);
    if (known === undefined) throw failure;
    return known;
  }

  private lookUpOnce(id: string): Promise<V | undefined> {
    const pending = this.pending.get(id);
    if (pending !== undefined) return pending;
    const askedAt = this.now();
    const lookup = this.lookUpTwice(id)
      .then((found) => {
        // A lookup that was forgotten meanwhile may have read the row before it changed.
        if (this.pending.get(id) !== lookup) return found;
        if (found === undefined) this.remembered.delete(id);
        else this.remembered.set(id, found, askedAt);
        return found;
      })
      .finally(() => {
        this.dropPending(id, lookup);
      });
    this.pending.set(id, lookup);
    return lookup;
  }

  /** That one connection broke says little about the next one. */
  private async lookUpTwice(id: string): Promise<V | undefined> {
    try {
      return await this.lookUp(id);
    } catch {
      return this.lookUp(id);
    }
  }

  private dropPending(id: string, lookup: Promise<V | undefined>): void {
    if (this.pending.get(id) === lookup) this.pending.delete(id);
  }
}

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('unavailable', 'The service cannot reach its database right now.', {
    cause,
    retryAfterSeconds: 1,
  });
}
