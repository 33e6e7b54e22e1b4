import type { Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import type { ShedLoad } from '../../common/shed-load.js';
import type { DatabasePresence } from '../../database/database-presence.js';
import { DatabaseAway, queryInTime } from '../../database/queries/query-in-time.js';
import { LookupLane } from './lookup-lane.js';
import { RecentMap } from './recent-map.js';
import { UnknownBudget } from './unknown-budget.js';

/** What ends is refused within a second everywhere, so what is remembered must be younger than that. */
const REMEMBERED_MS = 500;
/** An unknown credential is not looked up again for this long. */
const UNKNOWN_MS = 1000;
/** While the database is away, what was valid within this time goes on. */
const TRUSTED_WHILE_AWAY_MS = 10 * 60_000;
const MAX_REMEMBERED = 50_000;
const MAX_UNKNOWN = 10_000;
/** Two lanes, so that unknown credentials never keep a known one waiting. */
const KNOWN_LANE = { queriesAtOnce: 2, idsPerQuery: 200, idsWaiting: 10_000 };
const UNKNOWN_LANE = { queriesAtOnce: 1, idsPerQuery: 200, idsWaiting: 2_000 };
const RETRY_AFTER_SECONDS = 1;

export interface LookupOptions<V> {
  /** What is looked up, in the plural, for messages. */
  readonly what: string;
  /** Finds many at once; what is missing in its answer does not exist. */
  readonly lookUp: (ids: readonly string[]) => Promise<ReadonlyMap<string, V>>;
  readonly presence: DatabasePresence;
  readonly shedLoad: ShedLoad;
  readonly now: Clock;
}

/**
 * Answers of the database about credentials, each remembered for half a second. Callers that ask for the same at once
 * share one answer.
 *
 * What was remembered longer ago is used only while the database is away, which load cannot cause: see
 * `DatabasePresence`. While the database is slow, it is not known whether a credential was revoked, and the answer is 503.
 */
export class RecentLookups<V> {
  private readonly remembered = new RecentMap<string, V>(MAX_REMEMBERED);
  /** Ids that belong to a credential, or did so. */
  private readonly known = new RecentMap<string, true>(MAX_REMEMBERED);
  private readonly unknown = new RecentMap<string, true>(MAX_UNKNOWN);
  private readonly pending = new Map<string, Promise<V | undefined>>();
  private readonly unknownBudget = new UnknownBudget();
  private readonly knownLane: LookupLane<V>;
  private readonly unknownLane: LookupLane<V>;

  constructor(private readonly options: LookupOptions<V>) {
    const { lookUp, presence } = options;
    const inTime = (ids: readonly string[]) => queryInTime(() => lookUp(ids), presence);
    this.knownLane = new LookupLane(inTime, KNOWN_LANE);
    this.unknownLane = new LookupLane(inTime, UNKNOWN_LANE);
  }

  /**
   * @param networkOf tells the network of the caller. Asked only for credentials that were never seen to be valid.
   * @throws {ServiceError} `unavailable` when it cannot be looked up now, which says nothing about the credential;
   * `rate_limit_exceeded` for a credential that was never seen, from a network that shows too many unknown ones.
   */
  async get(id: string, networkOf: () => string = unnamedNetwork): Promise<V | undefined> {
    const now = this.options.now();
    const fresh = this.remembered.get(id, now - REMEMBERED_MS);
    if (fresh !== undefined) return fresh;
    if (this.unknown.get(id, now - UNKNOWN_MS) === true) return undefined;
    if (this.options.presence.isAway) return this.trusted(id, undefined);
    try {
      return await (this.pending.get(id) ?? this.lookUp(id, now, networkOf));
    } catch (error) {
      if (error instanceof DatabaseAway) return this.trusted(id, error);
      throw error;
    }
  }

  /** Says that the credential was made in this process, so that its first use is not taken for an unknown one. */
  expect(id: string): void {
    this.unknown.delete(id);
    this.known.set(id, true, 0);
  }

  /** Drops what is remembered. */
  forget(id: string): void {
    this.remembered.delete(id);
    this.unknown.delete(id);
    this.pending.delete(id);
  }

  /** What the database said before it went away. */
  private trusted(id: string, cause: unknown): V {
    const known = this.remembered.get(id, this.options.now() - TRUSTED_WHILE_AWAY_MS);
    if (known !== undefined) return known;
    throw new ServiceError('unavailable', 'The service cannot reach its database right now.', {
      cause,
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  private lookUp(id: string, askedAt: number, networkOf: () => string): Promise<V | undefined> {
    const asked = this.known.has(id) ? this.askKnown(id) : this.askUnknown(id, networkOf());
    const lookup = asked
      .then((found) => {
        // A lookup that was forgotten meanwhile may have read the row before it changed.
        if (this.pending.get(id) === lookup) this.remember(id, found, askedAt);
        return found;
      })
      .finally(() => {
        if (this.pending.get(id) === lookup) this.pending.delete(id);
      });
    this.pending.set(id, lookup);
    return lookup;
  }

  private remember(id: string, found: V | undefined, askedAt: number): void {
    if (found === undefined) {
      this.remembered.delete(id);
      this.unknown.set(id, true, askedAt);
      return;
    }
    this.remembered.set(id, found, askedAt);
    this.known.set(id, true, 0);
  }

  private async askKnown(id: string): Promise<V | undefined> {
    if (this.knownLane.isFull) throw this.tooMany();
    return this.knownLane.ask(id);
  }

  private async askUnknown(id: string, network: string): Promise<V | undefined> {
    if (this.unknownLane.isFull) throw this.tooMany();
    if (!this.unknownBudget.take(network)) throw this.tooManyUnknown();
    let isUnknown = false;
    try {
      const found = await this.unknownLane.ask(id);
      isUnknown = found === undefined;
      return found;
    } finally {
      if (!isUnknown) this.unknownBudget.giveBack(network);
    }
  }

  private tooMany(): ServiceError {
    const { what, shedLoad } = this.options;
    shedLoad.note('credential_lookups');
    return new ServiceError('unavailable', `Too many ${what} are looked up right now. Try again in a moment.`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  private tooManyUnknown(): ServiceError {
    const { what, shedLoad } = this.options;
    shedLoad.note('unknown_credentials');
    const message = `Too many unknown ${what} come from your network. Try again in a moment.`;
    return new ServiceError('rate_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/** All callers without a named network count as one. */
function unnamedNetwork(): string {
  return '';
}
