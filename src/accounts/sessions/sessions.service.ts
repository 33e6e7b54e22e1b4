import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { In, Repository } from 'typeorm';
import { CLOCK, type Clock } from '../../common/clock.js';
import { ServiceError } from '../../common/service-error.js';
import { ShedLoad } from '../../common/shed-load.js';
import { CONFIG, type Config, type TierConfig } from '../../config/config.js';
import { CredentialDatabase } from '../../database/credential-database.js';
import { DatabasePresence } from '../../database/database-presence.js';
import { isForeignKeyViolation, orUnavailable } from '../../database/queries/query-failure.js';
import type { AccountRole } from '../account/account-role.js';
import { tierNamed } from '../account/tier.js';
import { CredentialCache } from '../credentials/credential-cache.js';
import { ExpiredSessions } from './expired-sessions.js';
import { ABSOLUTE_LIFETIME_MS, hasEnded } from './session-lifetime.js';
import { generateSessionToken, hashSessionToken, isWellFormedSessionToken } from './session-token.js';
import { SessionUseRecorder } from './session-use-recorder.js';
import { SessionWatch } from './session-watch.js';
import { Session } from './session.entity.js';
import { SurplusSessions } from './surplus-sessions.js';

export interface NewSession {
  /** Only for the browser's cookie. The token cannot be recovered later. */
  readonly token: string;
  readonly sessionId: string;
  readonly expiresAt: Date;
}

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
    private readonly database: CredentialDatabase,
    private readonly watch: SessionWatch,
    private readonly uses: SessionUseRecorder,
    private readonly expired: ExpiredSessions,
    private readonly surplus: SurplusSessions,
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
   * @throws {ServiceError} `not_found` for an unknown account.
   */
  async create(accountId: string): Promise<NewSession> {
    const token = generateSessionToken();
    const id = hashSessionToken(token);
    const now = this.now();
    const createdAt = new Date(now);
    const expiresAt = new Date(now + ABSOLUTE_LIFETIME_MS);
    try {
      await orUnavailable(this.sessions.insert({ id, accountId, createdAt, lastSeenAt: createdAt, expiresAt }));
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
    if (!isWellFormedSessionToken(token)) return undefined;
    const known = await this.lookups.get(hashSessionToken(token), networkOf);
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
  async end(sessionId: string): Promise<void> {
    await orUnavailable(this.sessions.delete({ id: sessionId }));
    this.forget(sessionId);
  }

  /** Makes this process notice at once that a session has ended. Other processes notice the end by themselves. */
  forget(sessionId: string): void {
    this.lookups.forget(sessionId);
    this.watch.notify(sessionId);
  }

  private async endAll(sessionIds: readonly string[]): Promise<void> {
    if (sessionIds.length === 0) return;
    await orUnavailable(this.sessions.delete({ id: In(sessionIds) }));
    for (const id of sessionIds) this.forget(id);
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
