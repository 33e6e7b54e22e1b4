import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../database/queries/atomic-statements.js';
import type { TimePage, TimePosition } from '../../database/queries/page-by-time.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { keyNames } from '../credentials/key-names.js';
import { keyPage } from '../credentials/key-page.js';
import { ApiKeyCreation, type CreatedApiKey, type NewApiKey } from './api-key-creation.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { KEY_LIMIT_NAMES, type KeyLimits } from './limits/key-limits.js';
import { RevocationWatch } from './revocation-watch.js';

export type { CreatedApiKey, NewApiKey };

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

export interface RevokedApiKey {
  readonly id: string;
  readonly revokedAt: Date;
}

/**
 * Creates, lists and revokes API keys.
 *
 * @since 1.0
 */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly creation: ApiKeyCreation,
    private readonly verifier: ApiKeyVerifier,
    private readonly revocations: RevocationWatch,
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
    return orUnavailable(
      this.keys.find({
        select: LISTED,
        where: { accountId },
        order: { createdAt: 'ASC', id: 'ASC' },
      }),
    );
  }

  /** Lists one page of the account's keys, newest first, including revoked keys. */
  async page(accountId: string, offset: number, limit: number): Promise<readonly ListedApiKey[]> {
    return orUnavailable(
      this.keys.find({
        select: LISTED,
        where: { accountId },
        order: { createdAt: 'DESC', id: 'DESC' },
        skip: offset,
        take: limit,
      }),
    );
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
   * Revokes a key permanently. Revoking a key again changes nothing and returns the time of the first revocation.
   *
   * @param accountId when given, keys of other accounts count as unknown.
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async revoke(id: string, accountId?: string, author?: ChangeAuthor): Promise<RevokedApiKey> {
    const { accountId: owner } = await keyIn(this.keys, id, accountId);
    const change = {
      sql: 'UPDATE api_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id',
      parameters: { id, now: new Date(this.now()).toISOString() },
    };
    await this.database.change({ table: 'accounts', id: owner }, change, author);
    const key = await keyIn(this.keys, id, accountId);
    if (key.revokedAt === null) throw unknownKey();
    // This process stops accepting the key at once. Other processes notice the revocation by themselves.
    this.verifier.invalidate(key.hashedKey);
    this.revocations.notify(id);
    return { id, revokedAt: key.revokedAt };
  }
}

/**
 * Finds a key, with its hash.
 *
 * @param accountId when given, keys of other accounts count as unknown.
 * @throws {ServiceError} `not_found` for an unknown key.
 */
export function keyIn(keys: Repository<ApiKey>, id: string, accountId?: string): Promise<ApiKey> {
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
