import { Column, Entity, Index, JoinColumn, ManyToOne, OneToOne, PrimaryColumn } from 'typeorm';
import { TimestampColumn } from '../../platform/database/queries/timestamp-column.js';
import { Account } from '../account/account.entity.js';
import { DAY_MS } from '../../platform/common/clock.js';
import type { Statement } from '../../platform/database/queries/atomic-statements.js';

/** A browser that is signed in. The token itself is not stored. The row is deleted when the session ends, or soon after. */
@Entity('sessions')
export class Session {
  /** SHA-256 of the token in hexadecimal. */
  @PrimaryColumn({ type: 'text' })
  readonly id!: string;

  @Index()
  @Column({ type: 'text', name: 'account_id' })
  readonly accountId!: string;

  @ManyToOne(() => Account, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'account_id' })
  readonly account!: Account;

  @TimestampColumn({ name: 'created_at' })
  readonly createdAt!: Date;

  /** Up to a minute late, see {@link SessionUseRecorder}. */
  @Index()
  @TimestampColumn({ name: 'last_seen_at' })
  readonly lastSeenAt!: Date;

  /** The session ends at this time, even when it is in use. */
  @Index()
  @TimestampColumn({ name: 'expires_at' })
  readonly expiresAt!: Date;
}

/** The sign-in at an issuer by which a session began. A session that began with a password has none. */
@Entity('session_identities')
@Index(['issuer', 'subject'])
@Index(['issuer', 'sid'])
export class SessionIdentity {
  @PrimaryColumn({ type: 'text', name: 'session_id' })
  readonly sessionId!: string;

  @OneToOne(() => Session, { onDelete: 'CASCADE', nullable: false })
  @JoinColumn({ name: 'session_id' })
  readonly session!: Session;

  @Column({ type: 'text' })
  readonly issuer!: string;

  @Column({ type: 'text' })
  readonly subject!: string;

  /** The issuer's id of its own session, if it has sent one. */
  @Column({ type: 'text', nullable: true })
  readonly sid!: string | null;

  /** The ID token, which the issuer wants back when the person signs out. `null` for an unusually long one. */
  @Column({ type: 'text', name: 'id_token', nullable: true })
  readonly idToken!: string | null;
}

/** A session ends after this time without use. */
const IDLE_LIFETIME_MS = 7 * DAY_MS;
/** A session ends this long after its start, even when it is in use. */
export const ABSOLUTE_LIFETIME_MS = 30 * DAY_MS;

/** Whether the session has ended at the time `now`, in milliseconds. */
export function hasEnded(session: Pick<Session, 'lastSeenAt' | 'expiresAt'>, now: number): boolean {
  return sessionEndOf(session).getTime() <= now;
}

/** When the session ends if it is not used again. */
export function sessionEndOf({ lastSeenAt, expiresAt }: Pick<Session, 'lastSeenAt' | 'expiresAt'>): Date {
  return new Date(Math.min(expiresAt.getTime(), lastSeenAt.getTime() + IDLE_LIFETIME_MS));
}

/** Sessions that were last used at this time or earlier have ended. */
export function idleSince(now: number): Date {
  return new Date(now - IDLE_LIFETIME_MS);
}

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
