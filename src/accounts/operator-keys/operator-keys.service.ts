import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { isUUID } from 'class-validator';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import type { TimePage, TimePosition } from '../../platform/database/queries/page-by-time.js';
import { orUnavailable } from '../../platform/database/queries/query-failure.js';
import { checkKeyExpiry, checkKeyName } from '../api-keys/api-key-creation.js';
import { hashSecret } from '../credentials/secrets.js';
import { wireKeyTimes, keyNames, keyPage } from '../credentials/stored-key.js';
import { OPERATOR_KEY_FORMAT, OPERATOR_SCOPES, OperatorKey, OperatorKeyVerifier } from './operator-key-verifier.js';
import { heldMaker, makerIn, operatorEnded, OperatorTree, type CascadeOptions } from './operator-tree.js';

/** The number of keys that may be valid at the same time. */
const MAX_ACTIVE = 100;
const ACTIVE = 'revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
/** The row that serializes the creation of keys. It does not exist. */
const CREATION = { table: 'operator_keys', id: 'creation' } as const;

interface NewOperatorKey {
  readonly name: string;
  /** `read` or `write`. */
  readonly scope: string;
  /** By default, the key never expires. */
  readonly expiresAt?: Date | undefined;
}

/** A key as operators see it. */
export type ListedOperatorKey = Omit<OperatorKey, 'hashedKey'>;

interface CreatedOperatorKey extends ListedOperatorKey {
  /** Show the key to the operator now. The key cannot be recovered later. */
  readonly key: string;
}

export interface RevokedOperatorKey {
  readonly id: string;
  readonly revokedAt: Date;
}

/** Returns a key as the API and the admin command show it. */
export function wireOperatorKey(key: ListedOperatorKey) {
  return {
    id: key.id,
    name: key.name,
    scope: key.scope,
    created_by: key.createdBy,
    ...wireKeyTimes(key),
  };
}

/** Creates, lists and revokes the keys of the API for operators. */
@Injectable()
export class OperatorKeys {
  constructor(
    @InjectRepository(OperatorKey) private readonly keys: Repository<OperatorKey>,
    private readonly statements: AtomicStatements,
    private readonly verifier: OperatorKeyVerifier,
    private readonly tree: OperatorTree,
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
    const hashedKey = hashSecret(key);
    const createdBy = makerIn(author);
    const created = {
      id: randomUUID(),
      name: trimmed,
      scope: known,
      createdBy,
      prefix: OPERATOR_KEY_FORMAT.prefixOf(key),
      createdAt: new Date(now),
      expiresAt: expiresAt ?? null,
      lastUsedAt: null,
      revokedAt: null,
    };
    const { locks, condition } = heldMaker(createdBy);
    const insert = {
      sql: `INSERT INTO operator_keys (id, name, scope, prefix, hashed_key, created_at, expires_at, created_by)
        SELECT :id, :name, :scope, :prefix, :hashedKey, :now, :expiresAt, :maker
        WHERE ${condition} AND (SELECT COUNT(*) FROM operator_keys WHERE ${ACTIVE}) < ${MAX_ACTIVE} RETURNING id`,
      parameters: {
        ...{ id: created.id, name: trimmed, scope: known, prefix: created.prefix, hashedKey, maker: createdBy },
        ...{ now: created.createdAt.toISOString(), expiresAt: expiresAt?.toISOString() ?? null },
      },
    };
    const rows = await this.statements.change(CREATION, [...locks, insert], author);
    if (locks.length > 0 && rows.slice(0, locks.length).flat().length === 0) throw operatorEnded();
    if (rows.at(-1)?.length !== 1) {
      throw new ServiceError('invalid_request', `There are ${MAX_ACTIVE} active operator keys. Revoke a key first.`);
    }
    this.verifier.expect(hashedKey);
    return { ...created, key };
  }

  /** Finds a key. @throws {ServiceError} `not_found` for an unknown key. */
  async find(id: string): Promise<ListedOperatorKey> {
    const key = isUUID(id) ? await orUnavailable(this.keys.findOneBy({ id })) : null;
    if (key === null) throw unknownOperatorKey();
    return key;
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
   * Revokes a key permanently, and ends what the key has made. Revoking a key again returns the time of the first revocation.
   *
   * @throws {ServiceError} `not_found` for an unknown key.
   */
  async revoke(id: string, author?: ChangeAuthor, cascade: CascadeOptions = {}): Promise<RevokedOperatorKey> {
    if (!isUUID(id)) throw unknownOperatorKey();
    const change = {
      sql: 'UPDATE operator_keys SET revoked_at = COALESCE(revoked_at, :now) WHERE id = :id RETURNING id, revoked_at',
      parameters: { id, now: new Date(this.now()).toISOString() },
    };
    const changes = [change, ...this.tree.endings(id, author, cascade)];
    const ended = await this.statements.change({ table: 'operator_keys', id }, changes, author);
    await this.tree.ended(ended);
    const revokedAt = ended[0]?.[0]?.['revoked_at'];
    if (revokedAt == null) throw unknownOperatorKey();
    return { id, revokedAt: new Date(revokedAt) };
  }
}

function unknownScope(): ServiceError {
  const message = `The scope must be one of: ${OPERATOR_SCOPES.join(', ')}.`;
  return new ServiceError('invalid_request', message, { details: [{ field: 'scope', message }] });
}

function unknownOperatorKey(): ServiceError {
  return new ServiceError('not_found', 'This operator key does not exist.');
}
