import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CLOCK, type Clock } from '../common/clock.js';
import { ServiceError } from '../common/service-error.js';
import { CONFIG, type Config, type TierConfig } from '../config/config.js';
import { isForeignKeyViolation, orUnavailable } from '../database/query-failure.js';
import { ExpiredSessions } from './expired-sessions.js';
import { RecentLookups } from './recent-lookups.js';
import { ABSOLUTE_LIFETIME_MS, hasEnded } from './session-lifetime.js';
import { generateSessionToken, hashSessionToken, isWellFormedSessionToken } from './session-token.js';
import { SessionUseRecorder } from './session-use-recorder.js';
import { SessionWatch } from './session-watch.js';
import { Session } from './session.entity.js';
import { tierNamed } from './tier.js';

export interface NewSession {
  /** For the browser's cookie, and nowhere else: nobody can find it out later. */
  readonly token: string;
  readonly sessionId: string;
  readonly expiresAt: Date;
}

/** Who is signed in. */
export interface VerifiedSession {
  readonly sessionId: string;
  readonly account: {
    readonly id: string;
    readonly email: string;
    readonly tier: TierConfig;
  };
}

type KnownSession = Pick<Session, 'lastSeenAt' | 'expiresAt'> & { readonly verified: VerifiedSession };

/** Sessions: who is signed in, from the sign-in to its end. */
@Injectable()
export class SessionsService implements OnModuleDestroy {
  private readonly lookups: RecentLookups<KnownSession>;

  constructor(
    @InjectRepository(Session) private readonly sessions: Repository<Session>,
    private readonly watch: SessionWatch,
    private readonly uses: SessionUseRecorder,
    private readonly expired: ExpiredSessions,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(CLOCK) private readonly now: Clock,
  ) {
    this.lookups = new RecentLookups('sessions', (sessionId) => this.lookUp(sessionId), now);
  }

  /** @throws {ServiceError} `not_found` for an unknown account. */
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
      throw new ServiceError('not_found', 'There is no such account.');
    }
    this.expired.removeSoon();
    return { token, sessionId: id, expiresAt };
  }

  /**
   * `undefined` for a token that is malformed or unknown, or whose session has ended; which of them, nobody is told.
   *
   * @throws {ServiceError} `unavailable` when the database does not answer, as that says nothing about the session.
   */
  async verify(token: string): Promise<VerifiedSession | undefined> {
    if (!isWellFormedSessionToken(token)) return undefined;
    const known = await this.lookups.get(hashSessionToken(token));
    if (known === undefined || this.watch.hasEnded(known.verified.sessionId)) return undefined;
    if (hasEnded(known, this.now())) return undefined;
    this.uses.touch(known.verified.sessionId);
    return known.verified;
  }

  /** Ends a session for good, on every replica within a second. One that has ended may be ended again. */
  async end(sessionId: string): Promise<void> {
    try {
      await orUnavailable(this.sessions.delete({ id: sessionId }));
    } finally {
      this.forget(sessionId);
    }
  }

  /** Ends all sessions of the account. */
  async endAllOf(accountId: string): Promise<void> {
    const sessions = await orUnavailable(this.sessions.find({ select: { id: true }, where: { accountId } }));
    await orUnavailable(this.sessions.delete({ accountId }));
    for (const { id } of sessions) this.forget(id);
  }

  onModuleDestroy(): void {
    this.lookups.stop();
  }

  /** Other processes find out by themselves; this one need not wait. */
  private forget(sessionId: string): void {
    this.lookups.forget(sessionId);
    this.watch.tell(sessionId);
  }

  private async lookUp(sessionId: string): Promise<KnownSession | undefined> {
    const row = await orUnavailable(
      this.sessions
        .createQueryBuilder('session')
        .innerJoin('session.account', 'account')
        .select(['session.id', 'session.lastSeenAt', 'session.expiresAt'])
        .addSelect(['account.id', 'account.email', 'account.tier'])
        .where('session.id = :sessionId', { sessionId })
        .getOne(),
    );
    if (row === null) return undefined;
    const { lastSeenAt, expiresAt, account } = row;
    const tier = tierNamed(this.config, account.tier);
    return { lastSeenAt, expiresAt, verified: { sessionId, account: { id: account.id, email: account.email, tier } } };
  }
}
