import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Not, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../platform/common/clock.js';
import { UseRecorder } from '../credentials/use-recorder.js';
import {
  ABSOLUTE_LIFETIME_MS,
  hasEnded,
  idleSince,
  insertSession,
  insertSessionIdentity,
  Session,
  sessionEndOf,
  SessionIdentity,
} from './session.entity.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { HourlyJobs } from '../../platform/common/timers/periodic-task.js';
import { CONFIG, type Config, type TierConfig } from '../../platform/config/config.js';
import { CredentialDatabase } from '../../platform/database/credential-database.js';
import { DatabaseAvailability } from '../../platform/database/database-availability.js';
import { AtomicStatements, type ChangeAuthor } from '../../platform/database/queries/atomic-statements.js';
import { deletePortion } from '../../platform/database/queries/delete-portion.js';
import { isForeignKeyViolation, orUnavailable } from '../../platform/database/queries/query-failure.js';
import { tierNamed, type AccountRole } from '../account/account.entity.js';
import { AccountChanges } from '../credentials/account-changes.js';
import { CredentialCache, type StoredCredential } from '../credentials/credential-cache.js';
import { generateToken, hashSecret, isWellFormedToken } from '../credentials/secrets.js';

/** Writes `lastSeenAt` of sessions. */
@Injectable()
export class SessionUseRecorder extends UseRecorder<Session> {
  constructor(@InjectRepository(Session) sessions: Repository<Session>, @Inject(CLOCK) now: Clock) {
    super(sessions, 'lastSeenAt', now);
  }
}

export interface NewSession {
  /** Only for the browser's cookie. The token cannot be recovered later. */
  readonly token: string;
  readonly sessionId: string;
  readonly expiresAt: Date;
}

/** The sign-in at an issuer of OpenID Connect by which a session begins. */
export type SessionOrigin = Pick<SessionIdentity, 'issuer' | 'subject' | 'sid' | 'idToken'>;

/** A valid session and its account. */
export interface VerifiedSession {
  readonly sessionId: string;
  readonly expiresAt: Date;
  /** The position of {@link AccountChanges} before the session was read. */
  readonly readAt: number;
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly tier: TierConfig;
    readonly role: AccountRole;
  };
}

type KnownSession = StoredCredential &
  Pick<Session, 'lastSeenAt' | 'expiresAt'> & { readonly verified: VerifiedSession };

/** How many sessions an account may have. */
const MAX_SESSIONS = 100;
/** How many surplus sessions end with one sign-in. The next sign-in ends the rest. */
const MAX_SURPLUS = 1000;

/** Creates, verifies and ends sessions. */
@Injectable()
export class SessionsService {
  private readonly lookups: CredentialCache<KnownSession>;

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    @InjectRepository(SessionIdentity) private readonly identities: Repository<SessionIdentity>,
    private readonly database: CredentialDatabase,
    private readonly changes: AccountChanges,
    private readonly uses: SessionUseRecorder,
    private readonly statements: AtomicStatements,
    availability: DatabaseAvailability,
    shedLoad: ShedLoad,
    jobs: HourlyJobs,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (sessionIds: readonly string[]) => this.lookUp(sessionIds);
    this.lookups = new CredentialCache({ what: 'sessions', lookUp, changes, availability, shedLoad, now });
    jobs.add('Deletes expired sessions', () => this.deleteExpired());
  }

  /**
   * Creates a session. An account has at most 100 sessions. Above this number, the least recently used session ends.
   *
   * @param origin a logout at this issuer ends the session.
   * @param source the address of the browser, for the audit log.
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async create(accountId: string, origin?: SessionOrigin, source?: string): Promise<NewSession> {
    const token = generateToken();
    const id = hashSecret(token);
    const now = this.now();
    const createdAt = new Date(now);
    const expiresAt = new Date(now + ABSOLUTE_LIFETIME_MS);
    try {
      await this.statements.change(
        { table: 'sessions', id },
        [
          insertSession({ id, accountId, createdAt, expiresAt }),
          ...(origin === undefined ? [] : [insertSessionIdentity(id, origin)]),
        ],
        { actor: `account:${accountId}`, source },
      );
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new ServiceError('not_found', 'This account does not exist.');
    }
    await this.endSurplus(accountId, id);
    this.lookups.expect(id);
    return { token, sessionId: id, expiresAt };
  }

  /**
   * Finds the session of the token, and records that the session is used now.
   *
   * @param networkOf returns the network of the caller. Unknown tokens count against this network.
   * @returns `undefined` for a token that is malformed or unknown, or whose session has ended. The result does not disclose
   * which.
   * @throws {ServiceError} `unavailable` when the session cannot be looked up now, which says nothing about the session;
   * `rate_limit_exceeded` for a new token from a network that sends too many unknown tokens.
   */
  async verify(token: string, networkOf?: () => string): Promise<VerifiedSession | undefined> {
    if (!isWellFormedToken(token)) return undefined;
    const known = await this.lookups.get(hashSecret(token), networkOf);
    if (known === undefined || hasEnded(known, this.now())) return undefined;
    this.uses.touch(known.verified.sessionId);
    return known.verified;
  }

  /**
   * Ends a session permanently, on every replica within a second. Ending an ended session again changes nothing.
   *
   * @throws {ServiceError} `unavailable` when the database fails. The session then stays valid, so that the caller can try again.
   */
  async end(sessionId: string, author?: ChangeAuthor): Promise<void> {
    const sql = 'DELETE FROM sessions WHERE id = :sessionId RETURNING account_id';
    const change = { sql, parameters: { sessionId } };
    const [ended = []] = await this.statements.change({ table: 'sessions', id: sessionId }, change, author);
    await this.changes.notice(ended.map((row) => String(row['account_id'])));
  }

  /** Ends all sessions of an account, on every replica within a second. Returns how many sessions have ended. */
  async endAllOf(accountId: string, author?: ChangeAuthor): Promise<number> {
    const change = {
      sql: 'DELETE FROM sessions WHERE account_id = :accountId RETURNING id',
      parameters: { accountId },
    };
    const [ended = []] = await this.statements.change({ table: 'accounts', id: accountId }, change, author);
    await this.changes.notice([accountId]);
    return ended.length;
  }

  /** Returns the sign-in at an issuer by which the session began. `undefined` for a session that began with a password. */
  async originOf(sessionId: string): Promise<SessionOrigin | undefined> {
    return (await orUnavailable(this.identities.findOneBy({ sessionId }))) ?? undefined;
  }

  private async endSurplus(accountId: string, sessionId: string): Promise<void> {
    const leastRecentlyUsed = this.sessions.find({
      select: { id: true },
      where: { accountId, id: Not(sessionId) },
      order: { lastSeenAt: 'DESC', createdAt: 'DESC' },
      skip: MAX_SESSIONS - 1,
      take: MAX_SURPLUS,
    });
    const surplus = (await orUnavailable(leastRecentlyUsed)).map(({ id }) => id);
    if (surplus.length === 0) return;
    await orUnavailable(this.sessions.delete({ id: In(surplus) }));
    await this.changes.notice([accountId]);
  }

  private deleteExpired(): Promise<boolean> {
    const values = { now: new Date(this.now()).toISOString(), idleSince: idleSince(this.now()).toISOString() };
    const { dataSource } = this.sessions.manager;
    return deletePortion(dataSource, 'sessions', 'expires_at <= :now OR last_seen_at <= :idleSince', values);
  }

  private async lookUp(sessionIds: readonly string[]): Promise<ReadonlyMap<string, KnownSession>> {
    const { position } = this.changes;
    const rows = await this.database
      .repository(Session)
      .createQueryBuilder('session')
      .innerJoin('session.account', 'account')
      .select(['session.id', 'session.lastSeenAt', 'session.expiresAt'])
      .addSelect(['account.id', 'account.email', 'account.tier', 'account.role'])
      .where('session.id IN (:...sessionIds)', { sessionIds })
      .andWhere('account.disabledAt IS NULL')
      .getMany();
    return new Map(rows.map((row) => [row.id, this.knownSession(row, position)]));
  }

  private knownSession({ id: sessionId, lastSeenAt, expiresAt, account }: Session, readAt: number): KnownSession {
    const { id, email, role } = account;
    const { config } = this;
    const known = {
      id,
      email,
      role,
      get tier() {
        return tierNamed(config, account.tier);
      },
    };
    return {
      accountId: id,
      readAt,
      lastSeenAt,
      expiresAt,
      verified: { sessionId, expiresAt: sessionEndOf({ lastSeenAt, expiresAt }), readAt, account: known },
    };
  }
}
