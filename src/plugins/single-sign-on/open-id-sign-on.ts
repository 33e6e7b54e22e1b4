import { randomBytes } from 'node:crypto';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { SessionOrigin } from '../../plugin-api/core/accounts.js';
import { SessionStart, SignInLimits, sitePrefixOf } from '../../plugin-api/core/auth.js';
import { KeyedSemaphore, ServiceError, ShedLoad } from '../../plugin-api/core/common.js';
import { type Config, CONFIG } from '../../plugin-api/core/config.js';
import type {
  FinishedSignIn,
  NewSignIn,
  ReturningVisitor,
  SingleSignOn,
  SingleSignOnLink,
} from '../../plugin-api/single-sign-on.js';
import { BackChannelLogout } from './back-channel-logout.js';
import { signOnFailure, signOnFailureReason } from './sign-on-failure.js';
import { Issuer, type IssuerAnswer, isIssuerId } from './issuer.js';
import { LinkedAccounts } from './linked-accounts.js';
import { SignInStates, type SignInInProgress } from './sign-in-state.js';

/** How many sign-ins wait for the issuer at the same time. A request to an issuer that hangs takes five seconds. */
const CONCURRENT_SIGN_INS = 50;
const WAITING_SIGN_INS = 50;
const RETRY_AFTER_SECONDS = 5;
/** Longer ID tokens are not stored. Without one, the issuer asks whether to sign out. */
const MAX_ID_TOKEN_LENGTH = 8_192;

/** A form that the session token never has, so that such a cookie needs no query. */
const BROWSER_COOKIE = /^sign-in\.[\w-]{43}$/;

/** The page after a sign-out at the issuer. */
const SIGNED_OUT_PATH = '/sign-in';

/** Signs people in by OpenID Connect: the code flow with PKCE. */
@Injectable()
export class OpenIdSignOn implements SingleSignOn {
  private readonly logger = new Logger('SingleSignOn');
  private readonly semaphore: KeyedSemaphore;

  constructor(
    private readonly issuer: Issuer,
    private readonly states: SignInStates,
    readonly accounts: LinkedAccounts,
    readonly logouts: BackChannelLogout,
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

  get link(): SingleSignOnLink | undefined {
    const { singleSignOn } = this.config;
    if (singleSignOn === undefined) return undefined;
    // The issuer sends the browser back to this address, which must be the one that has the cookie.
    return { origin: singleSignOn.publicUrl, host: new URL(singleSignOn.issuer).host };
  }

  browserCookie(current: string | undefined): string {
    return current !== undefined && BROWSER_COOKIE.test(current)
      ? current
      : `sign-in.${randomBytes(32).toString('base64url')}`;
  }

  async start(signIn: NewSignIn): Promise<URL> {
    return this.atIssuer(async () => this.issuer.authorizationUrl(await this.states.create(signIn)));
  }

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

  async signOut({ idToken }: SessionOrigin): Promise<URL | undefined> {
    try {
      return await this.issuer.endSessionUrl(idToken, SIGNED_OUT_PATH);
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
      : this.linkAccount(answer, signIn.linkedAccountId, visitor);
  }

  private async signIn(
    { claims, idToken }: IssuerAnswer,
    next: SignInInProgress['next'],
    address: string | undefined,
  ): Promise<FinishedSignIn> {
    const account = await this.accounts.accountFor(claims);
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

  private async linkAccount(
    { claims }: IssuerAnswer,
    accountId: string,
    { session }: ReturningVisitor,
  ): Promise<FinishedSignIn> {
    if (session?.account.id !== accountId) {
      throw new ServiceError('forbidden', 'Your session has ended meanwhile. Sign in, and link your account again.');
    }
    await this.accounts.link(claims, accountId);
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
