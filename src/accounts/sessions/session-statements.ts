import type { Statement } from '../../database/queries/atomic-statements.js';
import type { SessionIdentity } from './session-identity.entity.js';
import type { Session } from './session.entity.js';

/** Adds a session that is first seen when it begins. */
export function insertSession({
  id,
  accountId,
  createdAt,
  expiresAt,
}: Pick<Session, 'id' | 'accountId' | 'createdAt' | 'expiresAt'>): Statement {
  return {
    sql: `INSERT INTO sessions (id, account_id, created_at, last_seen_at, expires_at)
      VALUES (:id, :accountId, :createdAt, :createdAt, :expiresAt) RETURNING id`,
    parameters: { id, accountId, createdAt: createdAt.toISOString(), expiresAt: expiresAt.toISOString() },
  };
}

/** Adds the sign-in at an issuer by which the session began. */
export function insertSessionIdentity(
  sessionId: string,
  { issuer, subject, sid, idToken }: Omit<SessionIdentity, 'session' | 'sessionId'>,
): Statement {
  return {
    sql: `INSERT INTO session_identities (session_id, issuer, subject, sid, id_token)
      VALUES (:sessionId, :issuer, :subject, :sid, :idToken) RETURNING session_id`,
    parameters: { sessionId, issuer, subject, sid, idToken },
  };
}
