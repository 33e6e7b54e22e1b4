import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { AtomicStatements, type ChangeAuthor } from '../../database/queries/atomic-statements.js';
import { isForeignKeyViolation, orUnavailable } from '../../database/queries/query-failure.js';
import type { AccountRole } from '../account/account-role.js';
import { tierNamed } from '../account/tier.js';
import { CredentialCache } from '../credentials/credential-cache.js';
import { ExpiredSessions } from './expired-sessions.js';
import { ABSOLUTE_LIFETIME_MS, hasEnded } from './session-lifetime.js';
import { generateToken, hashToken, isWellFormedToken } from '../credentials/random-token.js';
import { SessionUseRecorder } from './session-use-recorder.js';
import { SessionWatch } from './session-watch.js';
import { Session } from './session.entity.js';
import { SessionIdentity } from './session-identity.entity.js';
import { insertSession, insertSessionIdentity } from './session-statements.js';
import { SurplusSessions } from './surplus-sessions.js';

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
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly tier: TierConfig;
    readonly role: AccountRole;
  };
}

type KnownSession = Pick<Session, 'lastSeenAt' | 'expiresAt'> & { readonly verified: VerifiedSession };

/** Creates, verifies and ends sessions. */
@Injectable()
export class SessionsService {
  private readonly lookups: CredentialCache<KnownSession>;

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    @InjectRepository(SessionIdentity) private readonly identities: Repository<SessionIdentity>,
    private readonly database: CredentialDatabase,
    private readonly watch: SessionWatch,
    private readonly uses: SessionUseRecorder,
    private readonly expired: ExpiredSessions,
    private readonly surplus: SurplusSessions,
    private readonly statements: AtomicStatements,
    presence: DatabasePresence,
    shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    const lookUp = (sessionIds: readonly string[]) => this.lookUp(sessionIds);
    this.lookups = new CredentialCache({ what: 'sessions', lookUp, presence, shedLoad, now });
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
    const id = hashToken(token);
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
    await this.endAll(await orUnavailable(this.surplus.of(accountId, id)));
    this.lookups.expect(id);
    this.expired.removeSoon();
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
    const known = await this.lookups.get(hashToken(token), networkOf);
    if (known === undefined || this.watch.hasEnded(known.verified.sessionId)) return undefined;
    if (hasEnded(known, this.now())) return undefined;
    this.uses.touch(known.verified.sessionId);
    return known.verified;
  }

  /**
   * Ends a session permanently, on every replica within a second. Ending an ended session again changes nothing.
   *
   * @throws {ServiceError} `unavailable` when the database fails. The session then stays valid, so that the caller can try again.
   */
  async end(sessionId: string, author?: ChangeAuthor): Promise<void> {
    const change = { sql: 'DELETE FROM sessions WHERE id = :sessionId RETURNING id', parameters: { sessionId } };
    await this.statements.change({ table: 'sessions', id: sessionId }, change, author);
    this.invalidate(sessionId);
  }

  /** Ends all sessions of an account, on every replica within a second. Returns how many sessions have ended. */
  async endAllOf(accountId: string, author?: ChangeAuthor): Promise<number> {
    const change = {
      sql: 'DELETE FROM sessions WHERE account_id = :accountId RETURNING id',
      parameters: { accountId },
    };
    const [ended = []] = await this.statements.change({ table: 'accounts', id: accountId }, change, author);
    for (const { id } of ended) this.invalidate(String(id));
    return ended.length;
  }

  /** Returns the sign-in at an issuer by which the session began. `undefined` for a session that began with a password. */
  async originOf(sessionId: string): Promise<SessionOrigin | undefined> {
    return (await orUnavailable(this.identities.findOneBy({ sessionId }))) ?? undefined;
  }

  /** Makes this process notice at once that a session has ended. Other processes notice the end by themselves. */
  invalidate(sessionId: string): void {
    this.lookups.invalidate(sessionId);
    this.watch.notify(sessionId);
  }

  private async endAll(sessionIds: readonly string[]): Promise<void> {
    if (sessionIds.length === 0) return;
    await orUnavailable(this.sessions.delete({ id: In(sessionIds) }));
    for (const id of sessionIds) this.invalidate(id);
  }

  private async lookUp(sessionIds: readonly string[]): Promise<ReadonlyMap<string, KnownSession>> {
    const rows = await this.database
      .repository(Session)
      .createQueryBuilder('session')
      .innerJoin('session.account', 'account')
      .select(['session.id', 'session.lastSeenAt', 'session.expiresAt'])
      .addSelect(['account.id', 'account.email', 'account.tier', 'account.role'])
      .where('session.id IN (:...sessionIds)', { sessionIds })
      .andWhere('account.disabledAt IS NULL')
      .getMany();
    return new Map(rows.map((row) => [row.id, this.knownSession(row)]));
  }

  private knownSession({ id: sessionId, lastSeenAt, expiresAt, account }: Session): KnownSession {
    const { id, email, role } = account;
    const tier = tierNamed(this.config, account.tier);
    return { lastSeenAt, expiresAt, verified: { sessionId, account: { id, email, tier, role } } };
  }
}
