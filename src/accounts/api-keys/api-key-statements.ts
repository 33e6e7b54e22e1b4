import type { Statement } from '../../platform/database/queries/atomic-statements.js';
import { KEY_LIMIT_COLUMNS, KEY_LIMIT_NAMES, type KeyLimitChanges, type KeyLimits } from './api-key.entity.js';

/** How many keys of an account may be active at the same time. */
export const MAX_ACTIVE_KEYS = 100;
/** How many revoked and expired keys of an account stay in its list. The oldest keys are removed first. */
const MAX_ENDED_KEYS = 1000;

/** Selects the active keys of `:accountId` at the time `:now`. */
export const ACTIVE = 'account_id = :accountId AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
const ENDED = 'account_id = :accountId AND (revoked_at IS NOT NULL OR expires_at <= :now)';

/** A row of `api_keys`. Times are texts in ISO 8601. */
export interface ApiKeyRow extends Readonly<Record<keyof KeyLimits, string | null>> {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  readonly hashedKey: string;
  readonly expiresAt: string | null;
  /** The time of creation. */
  readonly now: string;
  readonly originId: string | null;
}

/** Returns the parameters that set the columns of the limits. Lists are stored as JSON. */
export function limitParameters<Name extends keyof KeyLimits>(
  limits: KeyLimitChanges,
  names: readonly Name[],
): Record<Name, string | null> {
  const textOf = (value: KeyLimits[Name] | undefined): string | null => {
    if (value === null || value === undefined) return null;
    return typeof value === 'object' ? JSON.stringify(value) : String(value);
  };
  return Object.fromEntries(names.map((name) => [name, textOf(limits[name])])) as Record<Name, string | null>;
}

/** Returns an SQL expression for the value of a limit: parameters are texts. */
export function limitValue(name: keyof KeyLimits): string {
  const { type } = KEY_LIMIT_COLUMNS[name];
  return type === 'text' ? `:${name}` : `CAST(:${name} AS ${type})`;
}

/** A key of the same account that the new key replaces. */
export interface ReplacedApiKey {
  readonly id: string;
  /** The time when the replaced key expires. `undefined`: the replaced key is revoked at once. */
  readonly endsAt: Date | undefined;
}

/**
 * Adds the key if the account has fewer than {@link MAX_ACTIVE_KEYS} active keys. If `sessionId` is given, the session
 * must still exist. If the key replaces another one, that key must be active. It does not count if it is revoked at once.
 */
export function insertKey(row: ApiKeyRow, sessionId?: string, replaced?: ReplacedApiKey): Statement {
  const replacedId = replaced?.id ?? '';
  const conditions = [
    `(SELECT COUNT(*) FROM api_keys WHERE ${ACTIVE} AND id <> :uncountedId) < ${MAX_ACTIVE_KEYS}`,
    ...(sessionId === undefined ? [] : ['EXISTS (SELECT id FROM sessions WHERE id = :sessionId)']),
    ...(replaced === undefined ? [] : [`EXISTS (SELECT id FROM api_keys WHERE id = :replacedId AND ${ACTIVE})`]),
  ];
  return {
    sql: `INSERT INTO api_keys (id, account_id, name, prefix, hashed_key, created_at, expires_at, origin_id,
        ${KEY_LIMIT_NAMES.map((name) => KEY_LIMIT_COLUMNS[name].name).join(', ')})
      SELECT :id, :accountId, :name, :prefix, :hashedKey, :now, :expiresAt, :originId,
        ${KEY_LIMIT_NAMES.map(limitValue).join(', ')}
      WHERE ${conditions.join(' AND ')} RETURNING id`,
    parameters: {
      ...row,
      uncountedId: replaced?.endsAt === undefined ? replacedId : '',
      ...(sessionId === undefined ? {} : { sessionId }),
      ...(replaced === undefined ? {} : { replacedId }),
    },
  };
}

/** Revokes a key of the account, or lets it expire earlier, if the key that replaces it was added. */
export function endReplaced({ id, endsAt }: ReplacedApiKey, { accountId, hashedKey, now }: ApiKeyRow): Statement {
  const expired = 'expires_at = CASE WHEN expires_at < :endsAt THEN expires_at ELSE :endsAt END';
  return {
    sql: `UPDATE api_keys SET ${endsAt === undefined ? 'revoked_at = :now' : expired} WHERE id = :id AND ${ACTIVE}
      AND EXISTS (SELECT 1 FROM api_keys added WHERE added.hashed_key = :hashedKey) RETURNING id`,
    parameters: { id, accountId, hashedKey, now, endsAt: endsAt?.toISOString() ?? null },
  };
}

/** Changes of a key. A missing member stays as it is. */
export interface ApiKeyChanges {
  readonly name?: string | undefined;
  readonly limits?: KeyLimitChanges | undefined;
  /** `null`: the key never expires. */
  readonly expiresAt?: Date | null | undefined;
}

/** Changes an active key. */
export function updateKey(id: string, { name, limits = {}, expiresAt }: ApiKeyChanges, now: number): Statement {
  const changed = KEY_LIMIT_NAMES.filter((limit) => limits[limit] !== undefined);
  const sets = changed.map((limit) => `${KEY_LIMIT_COLUMNS[limit].name} = ${limitValue(limit)}`);
  if (name !== undefined) sets.push('name = :name');
  if (expiresAt !== undefined) sets.push('expires_at = :expiresAt');
  return {
    sql: `UPDATE api_keys SET ${['id = id', ...sets].join(', ')}
      WHERE id = :id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now) RETURNING id`,
    parameters: {
      ...limitParameters(limits, changed),
      ...(name !== undefined && { name }),
      ...(expiresAt !== undefined && { expiresAt: expiresAt?.toISOString() ?? null }),
      id,
      now: new Date(now).toISOString(),
    },
  };
}

/** Removes the oldest ended keys beyond {@link MAX_ENDED_KEYS}. The usage records stay. */
export function removeOldestEnded({ accountId, now }: Pick<ApiKeyRow, 'accountId' | 'now'>): Statement {
  return {
    sql: `DELETE FROM api_keys WHERE id IN (
        SELECT id FROM api_keys WHERE ${ENDED} ORDER BY created_at DESC, id DESC LIMIT ${MAX_ENDED_KEYS} OFFSET ${MAX_ENDED_KEYS}
      ) RETURNING id`,
    parameters: { accountId, now },
  };
}

/** Revokes all active keys of the account. */
export function revokeActiveKeys({ accountId, now }: Pick<ApiKeyRow, 'accountId' | 'now'>): Statement {
  return {
    sql: `UPDATE api_keys SET revoked_at = :now WHERE ${ACTIVE} RETURNING id`,
    parameters: { accountId, now },
  };
}

/** Finds the key of the account, if it is active. */
export function findActive(id: string, { accountId, now }: Pick<ApiKeyRow, 'accountId' | 'now'>): Statement {
  return { sql: `SELECT id FROM api_keys WHERE id = :id AND ${ACTIVE}`, parameters: { id, accountId, now } };
}

/** Finds the session, if it has not ended. */
export function findSession(sessionId: string): Statement {
  return { sql: 'SELECT id FROM sessions WHERE id = :sessionId', parameters: { sessionId } };
}
