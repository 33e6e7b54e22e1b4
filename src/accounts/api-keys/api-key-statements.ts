import type { Statement } from '../../database/queries/atomic-statements.js';

/** How many keys of an account may be active at the same time. */
export const MAX_ACTIVE_KEYS = 100;
/** How many revoked and expired keys of an account stay in its list. The oldest keys are removed first. */
const MAX_ENDED_KEYS = 1000;

/** Selects the active keys of `:accountId` at the time `:now`. */
export const ACTIVE = 'account_id = :accountId AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)';
const ENDED = 'account_id = :accountId AND (revoked_at IS NOT NULL OR expires_at <= :now)';

/** A row of `api_keys`. Times are texts in ISO 8601. */
export interface ApiKeyRow {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly prefix: string;
  readonly hashedKey: string;
  readonly expiresAt: string | null;
  /** The time of creation. */
  readonly now: string;
}

/**
 * Adds the key if the account has fewer than {@link MAX_ACTIVE_KEYS} active keys. If `sessionId` is given, the session
 * must still exist.
 *
 * @param revokedId a key that the new key replaces at once. This key does not count as active.
 */
export function insertKey(row: ApiKeyRow, sessionId: string | undefined, revokedId = ''): Statement {
  return {
    sql: `INSERT INTO api_keys (id, account_id, name, prefix, hashed_key, created_at, expires_at)
      SELECT :id, :accountId, :name, :prefix, :hashedKey, :now, :expiresAt
      WHERE (SELECT COUNT(*) FROM api_keys WHERE ${ACTIVE} AND id <> :revokedId) < ${MAX_ACTIVE_KEYS}
      ${sessionId === undefined ? '' : 'AND EXISTS (SELECT id FROM sessions WHERE id = :sessionId)'}
      RETURNING id`,
    parameters: { ...row, revokedId, ...(sessionId === undefined ? {} : { sessionId }) },
  };
}

/** Revokes a key of the account, if the key that replaces it was added. */
export function revokeReplaced(replacedId: string, { accountId, hashedKey, now }: ApiKeyRow): Statement {
  return {
    sql: `UPDATE api_keys SET revoked_at = :now WHERE id = :replacedId AND ${ACTIVE} AND ${isAdded()} RETURNING id, hashed_key`,
    parameters: { replacedId, accountId, hashedKey, now },
  };
}

/** Sets the expiry date of a key of the account, if the key that replaces it was added. Keeps an earlier expiry date. */
export function expireReplaced(replacedId: string, endsAt: string, key: ApiKeyRow): Statement {
  const { accountId, hashedKey, now } = key;
  return {
    sql: `UPDATE api_keys SET expires_at = CASE WHEN expires_at < :endsAt THEN expires_at ELSE :endsAt END
      WHERE id = :replacedId AND ${ACTIVE} AND ${isAdded()} RETURNING id, hashed_key`,
    parameters: { replacedId, accountId, hashedKey, now, endsAt },
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

/** Finds the session, if it has not ended. */
export function findSession(sessionId: string): Statement {
  return { sql: 'SELECT id FROM sessions WHERE id = :sessionId', parameters: { sessionId } };
}

function isAdded(): string {
  return 'EXISTS (SELECT 1 FROM api_keys added WHERE added.hashed_key = :hashedKey)';
}
