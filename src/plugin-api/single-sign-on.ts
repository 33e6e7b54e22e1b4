import type { AccountIdentity } from '../accounts/identities/identities.service.js';
import type { NewSession, SessionOrigin, VerifiedSession } from '../accounts/sessions/sessions.service.js';

/** Starts a sign-in at the issuer. */
export const SINGLE_SIGN_ON_PATH = '/sign-in/single-sign-on';
/** Links the account of a person who is signed in. */
export const LINK_PATH = '/settings/account/single-sign-on';
/** How long a person can take to sign in at the issuer. */
export const SIGN_IN_LIFETIME_MS = 600_000;

/** Where a sign-in at the issuer begins. */
export interface SingleSignOnLink {
  /** The origin of this service to which the issuer sends the browser back. */
  readonly origin: string;
  /** The host of the issuer, for people to read. */
  readonly host: string;
}

export interface NewSignIn {
  /** The value of {@link SingleSignOn.browserCookie}. */
  readonly cookie: string;
  /** The path of the page that opens afterwards. */
  readonly next: string | undefined;
  /** The account that is linked to the person, instead of a sign-in. */
  readonly linkedAccountId: string | undefined;
}

/** The browser that comes back from the issuer. */
export interface ReturningVisitor {
  /** `request.ip`. */
  readonly address: string | undefined;
  readonly session: VerifiedSession | undefined;
  /** The value of the session cookie. */
  readonly cookie: string | undefined;
}

export type FinishedSignIn =
  | { readonly kind: 'signed-in'; readonly session: NewSession; readonly next: string | undefined }
  | { readonly kind: 'linked' }
  /** The browser is signed in already, for example by another tab. */
  | { readonly kind: 'unchanged' };

/** The links between accounts and people at the configured issuer. */
interface AccountLinks {
  identityOf(accountId: string): Promise<AccountIdentity | undefined>;

  /**
   * Removes the link. An account without a password keeps its link, because its owner could not sign in.
   *
   * @returns whether a link was removed.
   */
  unlink(accountId: string): Promise<boolean>;
}

/** Ends sessions because the issuer says so. */
interface IssuerLogouts {
  /**
   * Ends the sessions that the logout token names, on every replica within a second. As configured, also revokes the API keys of
   * their account.
   *
   * @param address `request.ip`. Invalid tokens count as failed sign-ins of its network.
   * @throws {ServiceError} `invalid_request` for a token that is invalid or was used already; `rate_limit_exceeded`; `unavailable` if the
   * token cannot be checked now.
   */
  handle(token: string, address: string | undefined): Promise<void>;
}

/** What the plugin of single sign-on offers to other plugins, such as the pages. Inject it as optional. */
export abstract class SingleSignOn {
  /** `undefined` without an issuer. */
  abstract readonly link: SingleSignOnLink | undefined;
  abstract readonly accounts: AccountLinks;
  abstract readonly logouts: IssuerLogouts;

  /**
   * Returns the value of the session cookie while a visitor signs in. It binds the sign-in to the browser. Several tabs of one
   * browser share it.
   *
   * @param current the value of the cookie now.
   */
  abstract browserCookie(current: string | undefined): string;

  /**
   * Returns the address of the issuer at which the browser continues.
   *
   * @throws {ServiceError} `unavailable` if the issuer does not answer.
   */
  abstract start(signIn: NewSignIn): Promise<URL>;

  /**
   * Finishes a sign-in with the query with which the issuer has sent the browser back.
   *
   * @throws {ServiceError} `invalid_request` for a query that does not belong to a sign-in of this browser, `forbidden` with the
   * reason, `rate_limit_exceeded`, `unavailable`.
   */
  abstract finish(query: string, visitor: ReturningVisitor): Promise<FinishedSignIn>;

  /** Returns the address at which the browser also signs out of the issuer, after its session has ended. `undefined`: there is none. */
  abstract signOut(origin: SessionOrigin): Promise<URL | undefined>;
}
