import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ServiceError } from '../common/service-error.js';
import { isForeignKeyViolation, orUnavailable } from '../database/query-failure.js';
import { generateApiKey, hashApiKey, prefixOf } from './api-key-format.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { ApiKey } from './api-key.entity.js';
import { RevocationWatch } from './revocation-watch.js';

const MAX_NAME_LENGTH = 100;

export interface NewApiKey {
  readonly name: string;
  /** By default never. */
  readonly expiresAt?: Date | undefined;
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

  /** @throws {ServiceError} `invalid_request` for an unfit name or moment, `not_found` for an unknown account. */
  async create(accountId: string, { name, expiresAt }: NewApiKey): Promise<CreatedApiKey> {
    const trimmed = name.trim();
    const createdAt = new Date(this.now());
    if (trimmed.length === 0 || trimmed.length > MAX_NAME_LENGTH) {
      throw invalid('name', `A name has 1 to ${MAX_NAME_LENGTH} characters.`);
    }
    // Not "<=", so that an invalid date is refused, too.
    if (expiresAt !== undefined && !(expiresAt > createdAt)) {
      throw invalid('expires_at', 'The moment of expiry must lie in the future.');
    }

    const key = generateApiKey();
    const id = randomUUID();
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
      if (!isForeignKeyViolation(error)) throw error;
      throw new ServiceError('not_found', 'There is no such account.');
    }
    return { id, name: trimmed, key };
  }

  /** The account's keys, oldest first, revoked ones included. */
  async list(accountId: string): Promise<readonly ListedApiKey[]> {
    return orUnavailable(
      this.keys.find({
        select: {
          id: true,
          name: true,
          prefix: true,
          createdAt: true,
          expiresAt: true,
          lastUsedAt: true,
          revokedAt: true,
        },
        where: { accountId },
        order: { createdAt: 'ASC', id: 'ASC' },
      }),
    );
  }

  /**
   * Ends a key for good. To revoke it again changes nothing and gives the first moment.
   *
   * @param accountId when given, keys of others count as unknown.
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async revoke(id: string, accountId?: string): Promise<RevokedApiKey> {
    const owned = accountId === undefined ? { id } : { id, accountId };
    await orUnavailable(this.keys.update({ ...owned, revokedAt: IsNull() }, { revokedAt: new Date(this.now()) }));
    const key = await orUnavailable(this.keys.findOneBy(owned));
    if (key?.revokedAt == null) throw new ServiceError('not_found', 'There is no such key.');
    // Other processes find out by themselves; this one need not wait.
    this.verifier.forget(key.hashedKey);
    this.revocations.tell(id);
    return { id, revokedAt: key.revokedAt };
  }
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', 'The key cannot be made like this.', { details: [{ field, message }] });
}
