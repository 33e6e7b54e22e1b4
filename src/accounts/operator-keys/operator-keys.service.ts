import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../database/queries/atomic-statements.js';
import type { TimePage, TimePosition } from '../../database/queries/page-by-time.js';
import { orUnavailable } from '../../database/queries/query-failure.js';
import { checkKeyExpiry, checkKeyName } from '../api-keys/api-key-creation.js';
import { hashKey } from '../credentials/key-format.js';
import { keyNames } from '../credentials/key-names.js';
import { keyPage } from '../credentials/key-page.js';
import { OPERATOR_KEY_FORMAT, OperatorKeyVerifier } from './operator-key-verifier.js';
import { OPERATOR_SCOPES, OperatorKey } from './operator-key.entity.js';

/** The number of keys that may be valid at the same time. */
const MAX_ACTIVE = 100;
const ACTIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
/** The row that serializes the creation of keys. It does not exist. */
const CREATION = { table: 'operator_keys', id: 'creation' } as const;

export interface NewOperatorKey {
  readonly name: string;
  /** `read` or `write`. */
  readonly scope: string;
  /** By default, the key never expires. */
  readonly expiresAt?: Date | undefined;
}

/** A key as operators see it. */
export type ListedOperatorKey = Omit<OperatorKey, 'hashedKey'>;

export interface CreatedOperatorKey extends ListedOperatorKey {
  /** Show the key to the operator now. The key cannot be recovered later. */
  readonly key: string;
}

export interface RevokedOperatorKey {
  readonly id: string;
  readonly revokedAt: Date;
}

/** Creates, lists and revokes the keys of the API for operators. */
@Injectable()
export class OperatorKeys {
  constructor(
    @InjectRepository(OperatorKey) private readonly keys: Repository<OperatorKey>,
    private readonly statements: AtomicStatements,
    private readonly verifier: OperatorKeyVerifier,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates a key.
   *
   * @throws {ServiceError} `invalid_request` for an invalid name, scope or expiry date, and when 100 keys are active.
   */
  async create({ name, scope, expiresAt }: NewOperatorKey, author?: ChangeAuthor): Promise<CreatedOperatorKey> {
    const now = this.now();
    const trimmed = name.trim();
    checkKeyName(trimmed);
    checkKeyExpiry(expiresAt, now);
    const known = OPERATOR_SCOPES.find((each) => each === scope);
    if (known === undefined) throw unknownScope();
    const key = OPERATOR_KEY_FORMAT.generate();
    const hashedKey = hashKey(key);
    const created = {
      id: randomUUID(),
      name: trimmed,
      scope: known,
      prefix: OPERATOR_KEY_FORMAT.prefixOf(key),
      createdAt: new Date(now),
      expiresAt: expiresAt ?? null,
      lastUsedAt: null,
      revokedAt: null,
    };
    const insert = {
      sql: `INSERT INTO operator_keys (id, name, scope, prefix, hashed_key, created_at, expires_at)
        SELECT :id, :name, :scope, :prefix, :hashedKey, :now, :expiresAt
        WHERE (SELECT COUNT(*) FROM operator_keys WHERE ${ACTIVE}) < ${MAX_ACTIVE} RETURNING id`,
      parameters: {
        ...{ id: created.id, name: trimmed, scope: known, prefix: created.prefix, hashedKey },
        ...{ now: created.createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null },
      },
    };
    const [added] = await this.statements.change(CREATION, [insert], author);
    if (added?.length !== 1) {
      throw new ServiceError('invalid_request', `There are ${MAX_ACTIVE} active operator keys. Revoke a key first.`);
    }
    this.verifier.expect(hashedKey);
    return { ...created, key };
  }

  /** Lists all keys, oldest first, including revoked keys. */
  async list(): Promise<readonly ListedOperatorKey[]> {
    return orUnavailable(this.keys.find({ order: { createdAt: 'ASC', id: 'ASC' } }));
  }

  /** Returns the names of the keys by id. An unknown id has none. */
  namesOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return keyNames(this.keys, ids);
  }

  /** Returns one page of all keys, the newest first, including revoked keys. */
  async page(after: TimePosition | undefined, limit: number): Promise<TimePage<ListedOperatorKey>> {
    return keyPage(this.keys, {}, after, limit);
  }

  /**
   * Revokes a key permanently. Revoking a key again changes nothing and returns the time of the first revocation.
   *
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async revoke(id: string, author?: ChangeAuthor): Promise<RevokedOperatorKey> {
    if (!isUUID(id)) throw unknownOperatorKey();
    const change = {
      sql: 'UPDATE operator_keys SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL RETURNING id',
      parameters: { id, now: new Date(this.now()).toISOString() },
    };
    await this.statements.change({ table: 'operator_keys', id }, change, author);
    const key = await orUnavailable(this.keys.findOneBy({ id }));
    if (key?.revokedAt == null) throw unknownOperatorKey();
    // This process stops accepting the key at once. Other processes look up the key within a second.
    this.verifier.invalidate(key.hashedKey);
    return { id, revokedAt: key.revokedAt };
  }
}

function unknownScope(): ServiceError {
  const message = `The scope must be one of: ${OPERATOR_SCOPES.join(', ')}.`;
  return new ServiceError('invalid_request', message, { details: [{ field: 'scope', message }] });
}

function unknownOperatorKey(): ServiceError {
  return new ServiceError('not_found', 'This operator key does not exist.');
}
