import type { Clock } from '../../platform/common/clock.js';
import { BatchLoader } from '../../platform/common/concurrency/batch-loader.js';
import { TokenBuckets } from '../../platform/common/concurrency/token-buckets.js';
import { RecentMap } from '../../platform/common/recent-map.js';
import { ServiceError } from '../../platform/common/service-error.js';
import type { ShedLoad } from '../../platform/common/shed-load.js';
import type { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { databaseUnavailable } from '../../platform/database/queries/query-failure.js';
import { DatabaseUnavailable, queryInTime } from '../../platform/database/queries/query-in-time.js';
import type { AccountChanges } from './account-changes.js';

/** A limit for changes that no entry of the audit log tells. */
const REMEMBERED_MS = 10_000;
/** An unknown credential is not looked up again for this long. */
const UNKNOWN_MS = 1000;
/** While the database is unavailable, the last answer about a credential counts for this long. */
const TRUSTED_DURING_OUTAGE_MS = 10 * 60_000;
const MAX_REMEMBERED = 50_000;
const MAX_UNKNOWN = 10_000;
/** There are two loaders, so that unknown credentials never delay a known credential. */
const KNOWN_BATCHES = { concurrentBatches: 2, keysPerBatch: 200, maxWaiters: 10_000 };
const UNKNOWN_BATCHES = { concurrentBatches: 1, keysPerBatch: 200, maxWaiters: 2_000 };
/** How many unknown credentials each network may send. */
const UNKNOWN_PER_NETWORK = { capacity: 200, perSecond: 20, maxKeys: 10_000 };
const RETRY_AFTER_SECONDS = 1;

/** A credential as the database has it. */
export interface StoredCredential {
  readonly accountId: string;
  /** The position of {@link AccountChanges} before the query. */
  readonly readAt: number;
}

export interface LookupOptions<V> {
  /** The kind of credential, in the plural, for messages. */
  readonly what: string;
  /** Finds many ids at once. An id that is missing in the result does not exist. */
  readonly lookUp: (ids: readonly string[]) => Promise<ReadonlyMap<string, V>>;
  readonly changes: Pick<AccountChanges, 'isCurrent' | 'hasChangedSince'>;
  readonly availability: DatabaseAvailability;
  readonly shedLoad: ShedLoad;
  readonly now: Clock;
}

/**
 * Looks up credentials in the database and caches each answer until its account changes. Concurrent callers that ask for the same
 * credential share one answer. While the changes of other replicas are not known, each request looks its credential up.
 *
 * Older answers are used only while the database is unavailable, see `DatabaseAvailability`. Load alone cannot cause this
 * state. While the database is slow, the service cannot know whether a credential was revoked, so it answers 503.
 */
export class CredentialCache<V extends StoredCredential> {
  private readonly remembered = new RecentMap<string, V>(MAX_REMEMBERED);
  /** Ids that belong or belonged to a credential. */
  private readonly known = new RecentMap<string, true>(MAX_REMEMBERED);
  private readonly unknown = new RecentMap<string, true>(MAX_UNKNOWN);
  private readonly pending = new Map<string, Promise<V | undefined>>();
  private readonly unknownByNetwork = new TokenBuckets(UNKNOWN_PER_NETWORK);
  private readonly knownLoader: BatchLoader<V>;
  private readonly unknownLoader: BatchLoader<V>;

  constructor(private readonly options: LookupOptions<V>) {
    const { lookUp, availability } = options;
    const inTime = (ids: readonly string[]) => queryInTime(() => lookUp(ids), availability);
    this.knownLoader = new BatchLoader(inTime, KNOWN_BATCHES);
    this.unknownLoader = new BatchLoader(inTime, UNKNOWN_BATCHES);
  }

  /**
   * Finds a credential by its id.
   *
   * @param networkOf returns the network of the caller. Called only for an id that this process has not found before.
   * @returns `undefined` when the credential does not exist.
   * @throws {ServiceError} `unavailable` when the credential cannot be looked up now, which says nothing about the
   * credential; `rate_limit_exceeded` for an id that this process has not found before, from a network that sends too many
   * unknown credentials.
   */
  async get(id: string, networkOf: () => string = unnamedNetwork): Promise<V | undefined> {
    const now = this.options.now();
    const { changes, availability } = this.options;
    const fresh = changes.isCurrent ? this.remembered.get(id, now - REMEMBERED_MS) : undefined;
    if (fresh !== undefined && this.isUnchanged(fresh)) return fresh;
    if (this.unknown.get(id, now - UNKNOWN_MS) === true) return undefined;
    if (availability.isUnavailable) return this.trusted(id, undefined);
    try {
      const found = await (this.pending.get(id) ?? this.lookUp(id, now, networkOf));
      // The query may have read the row before it changed.
      return found === undefined || this.isUnchanged(found) ? found : await this.get(id, networkOf);
    } catch (error) {
      if (error instanceof DatabaseUnavailable) return this.trusted(id, error);
      throw error;
    }
  }

  /** Records that this process has created the credential, so that the first use does not count as unknown. */
  expect(id: string): void {
    this.unknown.delete(id);
    this.known.set(id, true, 0);
  }

  private isUnchanged({ accountId, readAt }: V): boolean {
    return !this.options.changes.hasChangedSince(accountId, readAt);
  }

  /** Returns the last answer of the database before it became unavailable. */
  private trusted(id: string, cause: unknown): V {
    const known = this.remembered.get(id, this.options.now() - TRUSTED_DURING_OUTAGE_MS);
    if (known !== undefined && this.isUnchanged(known)) return known;
    throw databaseUnavailable(cause);
  }

  private lookUp(id: string, queriedAt: number, networkOf: () => string): Promise<V | undefined> {
    const query = this.known.has(id) ? this.loadKnown(id) : this.loadUnknown(id, networkOf());
    const lookup = query
      .then((found) => {
        this.remember(id, found, queriedAt);
        return found;
      })
      .finally(() => {
        this.pending.delete(id);
      });
    this.pending.set(id, lookup);
    return lookup;
  }

  private remember(id: string, found: V | undefined, queriedAt: number): void {
    if (found === undefined) {
      this.remembered.delete(id);
      this.unknown.set(id, true, queriedAt);
      return;
    }
    this.remembered.set(id, found, queriedAt);
    this.known.set(id, true, 0);
  }

  private async loadKnown(id: string): Promise<V | undefined> {
    if (this.knownLoader.isFull) throw this.tooMany();
    return this.knownLoader.load(id);
  }

  private async loadUnknown(id: string, network: string): Promise<V | undefined> {
    if (this.unknownLoader.isFull) throw this.tooMany();
    if (!this.unknownByNetwork.take(network)) throw this.tooManyUnknown();
    let isUnknown = false;
    try {
      const found = await this.unknownLoader.load(id);
      isUnknown = found === undefined;
      return found;
    } finally {
      if (!isUnknown) this.unknownByNetwork.refund(network);
    }
  }

  private tooMany(): ServiceError {
    const { what, shedLoad } = this.options;
    shedLoad.count('credential_lookups');
    return new ServiceError(
      'unavailable',
      `The service is checking too many ${what} right now. Try again in a moment.`,
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  }

  private tooManyUnknown(): ServiceError {
    const { what, shedLoad } = this.options;
    shedLoad.count('unknown_credentials');
    const message = `Your network sends too many unknown ${what}. Try again in a moment.`;
    return new ServiceError('rate_limit_exceeded', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
  }
}

/** All callers without a network count as one network. */
function unnamedNetwork(): string {
  return '';
}
