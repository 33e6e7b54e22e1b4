import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Row,
  type Statement,
} from '../../database/queries/atomic-statements.js';
import { isForeignKeyViolation, isUniqueViolation } from '../../database/queries/query-failure.js';
import { generateApiKey, hashApiKey, prefixOf } from './api-key-format.js';
import * as statements from './api-key-statements.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { checkKeyLimits } from './limits/key-limit-check.js';
import { KEY_LIMIT_NAMES, type KeyLimitChanges } from './limits/key-limits.js';
import { RevocationWatch } from './revocation-watch.js';

const MAX_NAME_LENGTH = 100;
const CONTROL_CHARACTER = /\p{Cc}/u;

export interface NewApiKey {
  readonly name: string;
  /** By default, the key never expires. */
  readonly expiresAt?: Date | undefined;
  /** A UUID. A caller that may repeat its request sets the id, so that the key is created only once. By default a new UUID. */
  readonly id?: string | undefined;
  /** The session that asks for the key. No key is created when the session has ended meanwhile. */
  readonly sessionId?: string | undefined;
  /** The limits of the key, in addition to the limits of its account. By default none. */
  readonly limits?: KeyLimitChanges | undefined;
  /** The first key in the chain of rotated keys that this key continues. By default, the key begins a chain. */
  readonly originId?: string | undefined;
}

export interface CreatedApiKey {
  readonly id: string;
  readonly name: string;
  /** Show the key to the owner now. The key cannot be recovered later. */
  readonly key: string;
}

/** Creates API keys, within the limits of an account. */
@Injectable()
export class ApiKeyCreation {
  constructor(
    private readonly database: AtomicStatements,
    private readonly verifier: ApiKeyVerifier,
    private readonly revocations: RevocationWatch,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Creates the key and ends the key that it replaces. Either both happen or neither.
   *
   * @throws {ServiceError} `invalid_request` for an invalid name, expiry date or id, and for an account with too many
   * active keys; `not_found` for an unknown account; `unauthenticated` when the session has ended.
   */
  async create(
    accountId: string,
    newKey: NewApiKey,
    {
      replaced,
      author,
    }: { readonly replaced?: statements.ReplacedApiKey; readonly author?: ChangeAuthor | undefined } = {},
  ): Promise<CreatedApiKey> {
    const { name, expiresAt, id = randomUUID(), sessionId, limits = {}, originId } = newKey;
    const now = this.now();
    const trimmed = name.trim();
    checkFields(trimmed, expiresAt, id, now);
    checkKeyLimits(limits);
    const key = generateApiKey();
    const row: statements.ApiKeyRow = {
      id,
      accountId,
      name: trimmed,
      prefix: prefixOf(key),
      hashedKey: hashApiKey(key),
      expiresAt: expiresAt?.toISOString() ?? null,
      now: new Date(now).toISOString(),
      originId: originId ?? null,
      ...statements.limitParameters(limits, KEY_LIMIT_NAMES),
    };
    const ending = replaced === undefined ? [] : [endingOf(replaced, row)];
    const [added, , ended = []] = await this.run(
      accountId,
      [statements.insertKey(row, sessionId, replaced), statements.removeOldestEnded(row), ...ending],
      author,
    );
    if (added?.length !== 1) throw await this.reasonOfNone(row, sessionId, replaced);
    this.verifier.expect(row.hashedKey);
    for (const each of ended) this.invalidate(each, replaced);
    return { id, name: trimmed, key };
  }

  private async run(accountId: string, all: readonly Statement[], author?: ChangeAuthor) {
    try {
      return await this.database.change({ table: 'accounts', id: accountId }, all, author);
    } catch (error) {
      if (isUniqueViolation(error)) throw invalid('id', 'This key was already created.');
      if (!isForeignKeyViolation(error)) throw error;
      throw new ServiceError('not_found', 'This account does not exist.');
    }
  }

  private async reasonOfNone(
    row: statements.ApiKeyRow,
    sessionId: string | undefined,
    replaced: statements.ReplacedApiKey | undefined,
  ): Promise<ServiceError> {
    const isGone = async (statement: Statement) => (await this.run(row.accountId, [statement]))[0]?.length === 0;
    if (sessionId !== undefined && (await isGone(statements.findSession(sessionId)))) return sessionEnded();
    if (replaced !== undefined && (await isGone(statements.findActive(replaced.id, row)))) return replacedKeyEnded();
    return tooManyKeys();
  }

  /** Makes this process notice the end of the key at once. Other processes notice the end by themselves. */
  private invalidate({ id, hashed_key: hashedKey }: Row, replaced: statements.ReplacedApiKey | undefined): void {
    this.verifier.invalidate(String(hashedKey));
    if (replaced?.endsAt === undefined) this.revocations.notify(String(id));
  }
}

function endingOf({ id, endsAt }: statements.ReplacedApiKey, row: statements.ApiKeyRow): Statement {
  return endsAt === undefined
    ? statements.revokeReplaced(id, row)
    : statements.expireReplaced(id, endsAt.toISOString(), row);
}

function checkFields(name: string, expiresAt: Date | undefined, id: string, now: number): void {
  checkKeyName(name);
  checkKeyExpiry(expiresAt, now);
  if (!isUUID(id)) throw invalid('id', 'The id must be a UUID.');
}

/** @throws {ServiceError} `invalid_request` for a name that is empty, too long, or not one line. */
export function checkKeyName(name: string): void {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throw invalid('name', `The name must have 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  if (CONTROL_CHARACTER.test(name)) throw invalid('name', 'The name must be one line of text.');
}

/** @throws {ServiceError} `invalid_request` for an expiry date that is not in the future. */
export function checkKeyExpiry(expiresAt: Date | undefined, now: number): void {
  // Not "<=", so that an invalid date is refused too.
  if (expiresAt === undefined || expiresAt.getTime() > now) return;
  throw invalid('expires_at', 'The expiry date must be in the future.');
}

function invalid(field: string, message: string): ServiceError {
  return new ServiceError('invalid_request', 'The details of the key are invalid.', { details: [{ field, message }] });
}

function tooManyKeys(): ServiceError {
  const limit = statements.MAX_ACTIVE_KEYS;
  return new ServiceError(
    'invalid_request',
    `This account has ${limit} active API keys, which is the maximum. Revoke a key first.`,
  );
}

/** The error for a key that is to be replaced or changed, but has expired or was revoked. */
export function replacedKeyEnded(): ServiceError {
  return new ServiceError('invalid_request', 'This key is expired or revoked. Create a new key.');
}

function sessionEnded(): ServiceError {
  return new ServiceError('unauthenticated', 'The session has ended. Sign in again.');
}
