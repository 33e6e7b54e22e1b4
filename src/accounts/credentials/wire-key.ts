import type { StoredKey } from './stored-key.js';

type Shown = Pick<StoredKey, 'prefix' | 'createdAt' | 'expiresAt' | 'lastUsedAt' | 'revokedAt'>;

/** The members that the API and the admin command show of every kind of key. */
export function wireKeyTimes({ prefix, createdAt, expiresAt, lastUsedAt, revokedAt }: Shown) {
  return {
    prefix,
    created_at: createdAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
    last_used_at: lastUsedAt?.toISOString() ?? null,
    revoked_at: revokedAt?.toISOString() ?? null,
  };
}
