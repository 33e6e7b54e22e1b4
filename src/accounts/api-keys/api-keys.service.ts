import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import type { TimePage, TimePosition } from '../../platform/database/queries/page-by-time.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { wireKeyTimes, keyNames, keyPage } from '../credentials/stored-key.js';
import { toPlainLine } from '../../platform/common/text/cut-text.js';
import {
  ApiKeyCreation,
  checkKeyExpiry,
  checkKeyName,
  replacedKeyEnded,
  type CreatedApiKey,
  type NewApiKey,
} from './api-key-creation.js';
import { updateKey, type ApiKeyChanges } from './api-key-statements.js';
import { ApiKey, KEY_LIMIT_NAMES, limitsIn, type KeyLimits } from './api-key.entity.js';
import { checkBudgetPeriod, checkKeyLimits } from './key-limits.js';

export type { ApiKeyChanges, CreatedApiKey, NewApiKey };

/** A key as its owner sees it. */
export type ListedApiKey = Pick<
  ApiKey,
  'id' | 'name' | 'prefix' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt' | 'originId' | keyof KeyLimits
>;

const LISTED = {
  id: true,
  name: true,
  prefix: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
  revokedAt: true,
  originId: true,
  ...(Object.fromEntries(KEY_LIMIT_NAMES.map((name) => [name, true])) as Record<keyof KeyLimits, true>),
} as const;

/** Returns what the API and the admin command show of a key, besides its id and its budget. */
export function wireApiKey(key: ListedApiKey) {
  return {
    name: key.name,
    ...wireKeyTimes(key),
    models: key.models,
    requests_per_minute: key.requestsPerMinute,
    tokens_per_day: key.tokensPerDay,
    addresses: key.addresses,
  };
}

interface RevokedApiKey {
  readonly id: string;
  readonly revokedAt: Date;
}

interface Rotation extends Omit<NewApiKey, 'name' | 'limits' | 'originId'> {
  /** How long the old key stays valid, so that the owner has time to deploy the new key. 0 revokes the old key at once. */
  readonly overlapMs: number;
}

interface RotatedApiKey {
  readonly created: CreatedApiKey;
  readonly oldEndsAt: Date;
}

/**
 * Creates, lists, changes, replaces and revokes API keys.
 *
 * @since 1.0
 */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly creation: ApiKeyCreation,
    private readonly changes: AccountChanges,
    private readonly database: AtomicStatements,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates a key. An account has at most 100 active keys.
   *
   * @throws {ServiceError} `invalid_request` for an invalid name or expiry date, and for an account with too many active keys;
   * `not_found` for an unknown account; `unauthenticated` when the session has ended.
   */
  async create(accountId: string, newKey: NewApiKey, author?: ChangeAuthor): Promise<CreatedApiKey> {
    return this.creation.create(accountId, newKey, { author });
  }

  /** Lists all keys of the account, oldest first, including revoked keys. */
  async list(accountId: string): Promise<readonly ListedApiKey[]> {
    const order = { createdAt: 'ASC', id: 'ASC' } as const;
    return orUnavailable(this.keys.find({ select: LISTED, where: { accountId }, order }));
  }

  /** Lists one page of the account's keys, newest first, including revoked keys. */
  async page(accountId: string, offset: number, limit: number): Promise<readonly ListedApiKey[]> {
    const order = { createdAt: 'DESC', id: 'DESC' } as const;
    return orUnavailable(this.keys.find({ select: LISTED, where: { accountId }, order, skip: offset, take: limit }));
  }

  /** Returns the keys of the account that follow a position, newest first, including revoked keys. */
  async pageAfter(accountId: string, after: TimePosition | undefined, limit: number): Promise<TimePage<ListedApiKey>> {
    return keyPage(this.keys, { accountId }, after, limit, LISTED);
  }

  /** Returns the names of the keys by id. An unknown id has none. */
  namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return keyNames(this.keys, ids);
  }

  /** Counts the keys of the account, including revoked and expired keys. */
  async count(accountId: string): Promise<number> {
    return orUnavailable(this.keys.countBy({ accountId }));
  }

  /**
   * Finds a key of the account.
   *
   * @throws {ServiceError} `not_found` for a key that is unknown or belongs to another account.
   */
  async find(id: string, accountId: string): Promise<ListedApiKey> {
    return knownKey(id, () => this.keys.findOne({ select: LISTED, where: { id, accountId } }));
  }

  /**
   * Returns the id of the account that owns the key.
   *
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async ownerOf(id: string): Promise<string> {
    return (await keyIn(this.keys, id)).accountId;
  }

  /**
   * Changes the name, the limits and the expiry date of an active key. Every replica applies the change within a second.
   *
   * @param accountId when given, keys of other accounts count as unknown.
   * @throws {ServiceError} `not_found` for an unknown key; `invalid_request` for invalid limits, an expiry date in the past, and
   * a key that is expired or revoked.
   */
  async update(
    id: string,
    { name, limits = {}, expiresAt }: ApiKeyChanges,
    accountId?: string,
    author?: ChangeAuthor,
  ): Promise<ListedApiKey> {
    const key = await keyIn(this.keys, id, accountId);
    const now = this.now();
    const trimmed = name?.trim();
    if (trimmed !== undefined) checkKeyName(trimmed);
    checkKeyLimits(limits);
    checkKeyExpiry(expiresAt ?? undefined, now);
    checkBudgetPeriod(limits, key.budgetMicros);
    const change = updateKey(id, { name: trimmed, limits, expiresAt }, now);
    const [changed] = await this.database.change({ table: 'accounts', id: key.accountId }, change, author);
    if (changed?.length !== 1) throw replacedKeyEnded();
    // This process applies the change at once. Other processes notice the change by themselves.
    await this.changes.notice([key.accountId]);
    return this.find(id, key.accountId);
  }

  /**
   * Creates a new key with the same name and the same limits, which also continues the counters of the old key, and sets the end of the old key. Either both happen or neither. The old key counts
   * as active until its end. So an account with 100 active keys can rotate a key only with `overlapMs` 0.
   *
   * @throws {ServiceError} `not_found` for a key that is unknown or belongs to another account; `invalid_request` for a key
   * that has ended; the errors of {@link ApiKeyCreation.create}.
   */
  async rotate(
    id: string,
    accountId: string,
    { overlapMs, ...replacement }: Rotation,
    author?: ChangeAuthor,
  ): Promise<RotatedApiKey> {
    const old = await this.find(id, accountId);
    const now = this.now();
    if (old.revokedAt !== null || (old.expiresAt !== null && old.expiresAt.getTime() <= now)) {
      throw replacedKeyEnded();
    }
    const end = new Date(now + overlapMs);
    const endsAt = old.expiresAt !== null && old.expiresAt < end ? old.expiresAt : end;
    const created = await this.creation.create(
      accountId,
      // The name can be older than the rules about names.
      { name: toPlainLine(old.name), limits: limitsIn(old), originId: old.originId ?? old.id, ...replacement },
      { replaced: { id, endsAt: overlapMs === 0 ? undefined : endsAt }, author },
    );
    return { created, oldEndsAt: endsAt };
  }

  /**
   * Revokes a key permanently. Revoking a key again changes nothing and returns the time of the first revocation.
   *
   * @param accountId when given, keys of other accounts count as unknown.
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async revoke(id: string, accountId?: string, author?: ChangeAuthor): Promise<RevokedApiKey> {
    if (!isUUID(id)) throw unknownKey();
    const change = {
      sql: `UPDATE api_keys SET revoked_at = COALESCE(revoked_at, :now)
        WHERE id = :id AND account_id = COALESCE(:accountId, account_id) RETURNING account_id, revoked_at`,
      parameters: { id, accountId: accountId ?? null, now: new Date(this.now()).toISOString() },
    };
    const [[revoked] = []] = await this.database.change({ table: 'api_keys', id }, change, author);
    if (revoked === undefined) throw unknownKey();
    // This process stops accepting the key at once. Other processes notice the revocation by themselves.
    await this.changes.notice([String(revoked['account_id'])]);
    return { id, revokedAt: new Date(String(revoked['revoked_at'])) };
  }
}

/**
 * Finds a key, with its hash.
 *
 * @param accountId when given, keys of other accounts count as unknown.
 * @throws {ServiceError} `not_found` for an unknown key.
 */
function keyIn(keys: Repository<ApiKey>, id: string, accountId?: string): Promise<ApiKey> {
  return knownKey(id, () => keys.findOneBy(accountId === undefined ? { id } : { id, accountId }));
}

async function knownKey<Key>(id: string, find: () => Promise<Key | null>): Promise<Key> {
  const key = isUUID(id) ? await orUnavailable(find()) : null;
  if (key === null) throw unknownKey();
  return key;
}

/** The error for a key that does not exist, or belongs to another account. */
function unknownKey(): ServiceError {
  return new ServiceError('not_found', 'This API key does not exist.');
}
