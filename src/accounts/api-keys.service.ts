import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { IsNull, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ServiceError } from '../common/service-error.js';
import { isForeignKeyViolation, isUniqueViolation, orUnavailable } from '../database/query-failure.js';
import { generateApiKey, hashApiKey, prefixOf } from './api-key-format.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { RevocationWatch } from './revocation-watch.js';

const MAX_NAME_LENGTH = 100;
const CONTROL_CHARACTER = /\p{Cc}/u;

export interface NewApiKey {
  readonly name: string;
  /** By default never. */
  readonly expiresAt?: Date | undefined;
  /** A UUID, for who may ask twice and wants the key made once. By default a new one. */
  readonly id?: string | undefined;
}

export interface CreatedApiKey {
  readonly id: string;
  readonly name: string;
  /** To be shown to the owner now, as nobody can find it out later. */
  readonly key: string;
}

/** A key as its owner sees it. */
export type ListedApiKey = Pick<
  ApiKey,
  'id' | 'name' | 'prefix' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'
>;

const LISTED = {
  id: true,
  name: true,
  prefix: true,
  createdAt: true,
  expiresAt: true,
  lastUsedAt: true,
  revokedAt: true,
} as const;

export interface RevokedApiKey {
  readonly id: string;
  readonly revokedAt: Date;
}

/** Makes, lists and revokes API keys. */
@Injectable()
export class ApiKeysService {
  constructor(
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly verifier: ApiKeyVerifier,
    private readonly revocations: RevocationWatch,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /** @throws {ServiceError} `invalid_request` for an unfit name, moment or id, `not_found` for an unknown account. */
  async create(accountId: string, { name, expiresAt, id = randomUUID() }: NewApiKey): Promise<CreatedApiKey> {
    const trimmed = name.trim();
    const createdAt = new Date(this.now());
    if (trimmed.length === 0 || trimmed.length > MAX_NAME_LENGTH) {
      throw invalid('name', `A name has 1 to ${MAX_NAME_LENGTH} characters.`);
    }
    if (CONTROL_CHARACTER.test(trimmed)) throw invalid('name', 'A name is one line of text.');
    // Not "<=", so that an invalid date is refused, too.
    if (expiresAt !== undefined && !(expiresAt > createdAt)) {
      throw invalid('expires_at', 'The moment of expiry must lie in the future.');
    }
    if (!isUUID(id)) throw invalid('id', 'This is not a UUID.');

    const key = generateApiKey();
    try {
      await orUnavailable(
        this.keys.insert({
          id,
          accountId,
          name: trimmed,
          prefix: prefixOf(key),
          hashedKey: hashApiKey(key),
          createdAt,
          expiresAt: expiresAt ?? null,
        }),
      );
    } catch (error) {
      if (isUniqueViolation(error)) throw invalid('id', 'This key has been made already.');
      if (!isForeignKeyViolation(error)) throw error;
      throw new ServiceError('not_found', 'There is no such account.');
    }
    return { id, name: trimmed, key };
  }

  /** The account's keys, oldest first, revoked ones included. */
  async list(accountId: string): Promise<readonly ListedApiKey[]> {
    return orUnavailable(
      this.keys.find({
        select: LISTED,
        where: { accountId },
        order: { createdAt: 'ASC', id: 'ASC' },
      }),
    );
  }

  /** Some of the account's keys, newest first, revoked ones included. */
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

  /** How many keys the account has, revoked ones included. */
  async count(accountId: string): Promise<number> {
    return orUnavailable(this.keys.countBy({ accountId }));
  }

  /** @throws {ServiceError} `not_found` for a key that is unknown, or another account's. */
  async find(id: string, accountId: string): Promise<ListedApiKey> {
    const key = isUUID(id)
      ? await orUnavailable(this.keys.findOne({ select: LISTED, where: { id, accountId } }))
      : null;
    if (key === null) throw unknownKey();
    return key;
  }

  /**
   * Ends a key for good. To revoke it again changes nothing and gives the first moment.
   *
   * @param accountId when given, keys of others count as unknown.
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async revoke(id: string, accountId?: string): Promise<RevokedApiKey> {
    if (!isUUID(id)) throw unknownKey();
    const owned = accountId === undefined ? { id } : { id, accountId };
    await orUnavailable(this.keys.update({ ...owned, revokedAt: IsNull() }, { revokedAt: new Date(this.now()) }));
    const key = await orUnavailable(this.keys.findOneBy(owned));
    if (key?.revokedAt == null) throw unknownKey();
    // Other processes find out by themselves; this one need not wait.
    this.verifier.forget(key.hashedKey);
    this.revocations.tell(id);
    return { id, revokedAt: key.revokedAt };
  }
}

function unknownKey(): ServiceError {
  return new ServiceError('not_found', 'There is no such key.');
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', 'The key cannot be made like this.', { details: [{ field, message }] });
}
