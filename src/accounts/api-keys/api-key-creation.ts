import { randomUUID } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { isUUID } from 'class-validator';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { isPlainLine } from '../../platform/common/text/cut-text.js';
import {
  AtomicStatements,
  type ChangeAuthor,
  type Statement,
} from '../../platform/database/queries/atomic-statements.js';
import { isForeignKeyViolation, isUniqueViolation } from '../../platform/database/queries/query-failure.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { API_KEY_FORMAT, hashSecret } from '../credentials/secrets.js';
import * as statements from './api-key-statements.js';
import { ApiKeyVerifier } from './api-key-verifier.js';
import { checkKeyLimits } from './key-limits.js';
import { KEY_LIMIT_NAMES, type KeyLimitChanges } from './api-key.entity.js';

const MAX_NAME_LENGTH = 100;

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
    private readonly changes: AccountChanges,
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
    const key = API_KEY_FORMAT.generate();
    const row: statements.ApiKeyRow = {
      id,
      accountId,
      name: trimmed,
      prefix: API_KEY_FORMAT.prefixOf(key),
      hashedKey: hashSecret(key),
      expiresAt: expiresAt?.toISOString() ?? null,
      now: new Date(now).toISOString(),
      originId: originId ?? null,
      ...statements.limitParameters(limits, KEY_LIMIT_NAMES),
    };
    const ending = replaced === undefined ? [] : [statements.endReplaced(replaced, row)];
    const [added] = await this.run(
      accountId,
      [statements.insertKey(row, sessionId, replaced), statements.removeOldestEnded(row), ...ending],
      author,
    );
    if (added?.length !== 1) throw await this.reasonOfNone(row, sessionId, replaced);
    this.verifier.expect(row.hashedKey);
    // Other processes notice the end of the replaced key by themselves.
    if (replaced !== undefined) await this.changes.notice([accountId]);
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
}

function checkFields(name: string, expiresAt: Date | undefined, id: string, now: number): void {
  checkKeyName(name);
  checkKeyExpiry(expiresAt, now);
  if (!isUUID(id)) throw invalid('id', 'The id must be a UUID.');
}

/** @throws {ServiceError} `invalid_request` for a name that is empty, too long, or not a plain line. */
export function checkKeyName(name: string): void {
  if (name.length === 0 || name.length > MAX_NAME_LENGTH) {
    throw invalid('name', `The name must have 1 to ${MAX_NAME_LENGTH} characters.`);
  }
  if (!isPlainLine(name)) {
    const message = 'The name must be one line of text, without characters that change its direction.';
    throw invalid('name', message);
  }
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
