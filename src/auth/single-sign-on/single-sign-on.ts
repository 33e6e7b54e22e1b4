import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import { SessionsService, type NewSession, type VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import { KeyedSemaphore } from '../../platform/common/concurrency/keyed-semaphore.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { ShedLoad } from '../../platform/common/shed-load.js';
import { CONFIG, type Config } from '../../platform/config/config.js';
import { sitePrefixOf } from '../network/client-network.js';
import { SessionStart } from '../session/session-start.js';
import type { Visitor } from '../sign-in/sign-in.js';
import { SignInLimits } from '../sign-in/sign-in-limits.js';
import { signOnFailure, signOnFailureReason } from './sign-on-failure.js';
import { Issuer, type IssuerAnswer } from './issuer.js';
import { isIssuerId } from './claims.js';
import { LinkedAccounts } from './linked-accounts.js';
import { SIGNED_OUT_PATH } from './paths.js';
import { SignInStates, type NewSignIn, type SignInInProgress } from './sign-in-state.js';

/** How many sign-ins wait for the issuer at the same time. A request to an issuer that hangs takes five seconds. */
const CONCURRENT_SIGN_INS = 50;
const WAITING_SIGN_INS = 50;
const RETRY_AFTER_SECONDS = 5;
/** Longer ID tokens are not stored. Without one, the issuer asks whether to sign out. */
const MAX_ID_TOKEN_LENGTH = 8_192;

/** A form that the session token never has, so that such a cookie needs no query. */
const BROWSER_COOKIE = /^sign-in\.[\w-]{43}$/;

/** The browser that comes back from the issuer. */
interface ReturningVisitor extends Omit<Visitor, 'sessionId'> {
  readonly session: VerifiedSession | undefined;
  /** The value of the session cookie. */
  readonly cookie: string | undefined;
}

type FinishedSignIn =
  | { readonly kind: 'signed-in'; readonly session: NewSession; readonly next: string | undefined }
  | { readonly kind: 'linked' }
  /** The browser is signed in already, for example by another tab. */
  | { readonly kind: 'unchanged' };

/** Signs people in by OpenID Connect: the code flow with PKCE. */
@Injectable()
export class SingleSignOn {
  private readonly logger = new Logger('SingleSignOn');
  private readonly semaphore: KeyedSemaphore;

  constructor(
    private readonly issuer: Issuer,
    private readonly states: SignInStates,
    private readonly linked: LinkedAccounts,
    private readonly sessions: SessionsService,
    private readonly starts: SessionStart,
    private readonly limits: SignInLimits,
    shedLoad: ShedLoad,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    this.semaphore = new KeyedSemaphore({ permits: CONCURRENT_SIGN_INS, maxWaiters: WAITING_SIGN_INS }, () => {
      shedLoad.count('single_sign_on');
      return new ServiceError('unavailable', 'Too many people are signing in right now. Try again in a moment.', {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    });
  }

  /**
   * Returns the value of the session cookie while a visitor signs in. It binds the sign-in to the browser. Several tabs of one
   * browser share it.
   *
   * @param current the value of the cookie now.
   */
  browserCookie(current: string | undefined): string {
    return current !== undefined && BROWSER_COOKIE.test(current)
      ? current
      : `sign-in.${randomBytes(32).toString('base64url')}`;
  }

  /**
   * Returns the address of the issuer at which the browser continues.
   *
   * @throws {ServiceError} `unavailable` if the issuer does not answer.
   */
  async start(signIn: NewSignIn): Promise<URL> {
    return this.atIssuer(async () => this.issuer.authorizationUrl(await this.states.create(signIn)));
  }

  /**
   * Finishes a sign-in with the query with which the issuer has sent the browser back.
   *
   * @throws {ServiceError} `invalid_request` for a query that does not belong to a sign-in of this browser, `forbidden` with the
   * reason, `rate_limit_exceeded`, `unavailable`.
   */
  async finish(query: string, visitor: ReturningVisitor): Promise<FinishedSignIn> {
    const attempt = await this.limits.issuerAttempt(visitor.address);
    try {
      const finished = await this.finishOnce(query, visitor);
      await attempt.succeeded();
      return finished;
    } catch (error) {
      await (error instanceof ServiceError && error.status < 500 ? attempt.failed() : attempt.withdrawn());
      throw error;
    }
  }

  /**
   * Ends the session.
   *
   * @returns the address at which the browser also signs out of the issuer, if the session began there and the issuer has one.
   */
  async signOut(sessionId: string, author: ChangeAuthor): Promise<URL | undefined> {
    const origin = this.config.singleSignOn === undefined ? undefined : await this.sessions.originOf(sessionId);
    await this.sessions.end(sessionId, author);
    if (origin === undefined) return undefined;
    try {
      return await this.issuer.endSessionUrl(origin.idToken, SIGNED_OUT_PATH);
    } catch (error) {
      this.logger.warn({ msg: 'The issuer cannot be asked to sign out', reason: signOnFailureReason(error) });
      return undefined;
    }
  }

  private async finishOnce(query: string, visitor: ReturningVisitor): Promise<FinishedSignIn> {
    const state = new URLSearchParams(query).get('state') ?? '';
    const signIn = await this.states.open(state);
    if (signIn?.isOf(visitor.cookie) !== true) {
      if (visitor.session !== undefined) return { kind: 'unchanged' };
      throw new ServiceError(
        'invalid_request',
        'This sign-in has expired, was finished already, or was started in another browser. Sign in again.',
      );
    }
    const answer = await this.semaphore.run(sitePrefixOf(visitor.address), () =>
      this.atIssuer(() => this.issuer.redeem(query, signIn)),
    );
    return signIn.linkedAccountId === undefined
      ? this.signIn(answer, signIn.next, visitor.address)
      : this.link(answer, signIn.linkedAccountId, visitor);
  }

  private async signIn(
    { claims, idToken }: IssuerAnswer,
    next: SignInInProgress['next'],
    address: string | undefined,
  ): Promise<FinishedSignIn> {
    const account = await this.linked.accountFor(claims);
    const origin = {
      issuer: claims.iss,
      subject: claims.sub,
      sid: isIssuerId(claims['sid']) ? claims['sid'] : null,
      idToken: idToken.length > MAX_ID_TOKEN_LENGTH ? null : idToken,
    };
    const session = await this.starts.begin(account, origin, address);
    if (session === undefined) throw new ServiceError('forbidden', 'This account was changed just now. Sign in again.');
    return { kind: 'signed-in', session, next };
  }

  private async link(
    { claims }: IssuerAnswer,
    accountId: string,
    { session }: ReturningVisitor,
  ): Promise<FinishedSignIn> {
    if (session?.account.id !== accountId) {
      throw new ServiceError('forbidden', 'Your session has ended meanwhile. Sign in, and link your account again.');
    }
    await this.linked.link(claims, accountId);
    return { kind: 'linked' };
  }

  /** Converts the errors of the libraries, and logs them for the operator. */
  private async atIssuer<T>(task: () => Promise<T>): Promise<T> {
    try {
      return await task();
    } catch (error) {
      this.logger.warn({ msg: 'A single sign-on failed', reason: signOnFailureReason(error) });
      throw signOnFailure(error);
    }
  }
}
