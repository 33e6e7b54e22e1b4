import { createHash } from 'node:crypto';
import { Inject, Injectable } from '@nestjs/common';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { AtomicStatements, type Statement } from '../../platform/database/queries/atomic-statements.js';
import { isUniqueViolation } from '../../platform/database/queries/query-failure.js';
import { AccountChanges } from '../credentials/account-changes.js';

/** A logout that an issuer has sent. It has a subject, or the id of a session of the issuer, or both. */
export interface Logout {
  readonly issuer: string;
  readonly subject: string | undefined;
  readonly sid: string | undefined;
  /** The unique id of the logout token. */
  readonly tokenId: string;
  /** From then on, the token is refused because of its age, in milliseconds since 1970. */
  readonly tokenExpiresAt: number;
}

interface EndedByLogout {
  readonly sessions: number;
  readonly keys: number;
}

/** Ends what a logout at the issuer ends. */
@Injectable()
export class IssuerLogout {
  constructor(
    private readonly database: AtomicStatements,
    private readonly changes: AccountChanges,
    @Inject(CLOCK) private readonly now: Clock,
  ) {}

  /**
   * Ends the sessions that began by the sign-in at the issuer, on every replica within a second.
   *
   * @param revokeKeys whether the active API keys of the account are revoked, too.
   * @returns `undefined` if this logout was received before.
   */
  async end(logout: Logout, revokeKeys: boolean): Promise<EndedByLogout | undefined> {
    const now = new Date(this.now()).toISOString();
    const id = createHash('sha256')
      .update(JSON.stringify([logout.issuer, logout.tokenId]))
      .digest('hex');
    const statements = [
      removeOldTokens(now),
      insertToken(id, new Date(logout.tokenExpiresAt).toISOString()),
      // Before the sessions end, because the account may be found by them.
      ...(revokeKeys ? [revokeKeysOf(logout, now)] : []),
      deleteSessions(logout),
    ];
    try {
      const rows = await this.database.change({ table: 'logout_tokens', id }, statements, {
        actor: 'issuer',
        source: logout.issuer,
      });
      const sessions = rows.at(-1) ?? [];
      const keys = revokeKeys ? (rows.at(-2) ?? []) : [];
      await this.changes.notice([...sessions, ...keys].map((row) => String(row['account_id'])));
      return { sessions: sessions.length, keys: keys.length };
    } catch (error) {
      if (isUniqueViolation(error)) return undefined;
      throw error;
    }
  }
}

function removeOldTokens(now: string): Statement {
  return { sql: 'DELETE FROM logout_tokens WHERE expires_at <= :now RETURNING id', parameters: { now } };
}

function insertToken(id: string, expiresAt: string): Statement {
  return {
    sql: 'INSERT INTO logout_tokens (id, expires_at) VALUES (:id, :expiresAt) RETURNING id',
    parameters: { id, expiresAt },
  };
}

function deleteSessions(logout: Logout): Statement {
  const { sql, parameters } = sessionsOf(logout);
  return { sql: `DELETE FROM sessions WHERE id IN (${sql}) RETURNING account_id`, parameters };
}

function revokeKeysOf(logout: Logout, now: string): Statement {
  const { sql, parameters } = accountsOf(logout);
  return {
    sql: `UPDATE api_keys SET revoked_at = :now WHERE account_id IN (${sql}) AND revoked_at IS NULL
      AND (expires_at IS NULL OR expires_at > :now) RETURNING account_id`,
    parameters: { ...parameters, now },
  };
}

function accountsOf(logout: Logout): Statement {
  const { issuer, subject } = logout;
  if (subject !== undefined) {
    return {
      sql: 'SELECT account_id FROM account_identities WHERE issuer = :issuer AND subject = :subject',
      parameters: { issuer, subject },
    };
  }
  const { sql, parameters } = sessionsOf(logout);
  return { sql: `SELECT account_id FROM sessions WHERE id IN (${sql})`, parameters };
}

/** Selects the sessions that the logout ends: of the issuer's session if it is named, and of the person if it is named. */
function sessionsOf({ issuer, subject, sid }: Logout): Statement {
  const named = Object.entries({ issuer, subject, sid }).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  const conditions = named.map(([column]) => `${column} = :${column}`);
  return {
    sql: `SELECT session_id FROM session_identities WHERE ${conditions.join(' AND ')}`,
    parameters: Object.fromEntries(named),
  };
}
