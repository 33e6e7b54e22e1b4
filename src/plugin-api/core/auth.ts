// What plugins use of auth.
export { KeyCreationLimit } from '../../auth/attempts/attempt-counters.js';
export { unauthenticated } from '../../auth/bearer/bearer-header.js';
export { sitePrefixOf } from '../../auth/network/client-network.js';
export { bearerTokenIn, OperatorApi, operatorOf } from '../../auth/operators/operator-access.js';
export { CurrentPrincipal, type Principal, principalOf, restrictionsOf } from '../../auth/principal/principal.js';
export { isSecure, linkOrigin, publicOriginOf } from '../../auth/same-origin/public-origin.js';
export { sourceOf } from '../../auth/same-origin/same-origin.guard.js';
export { authorOf, clearSession, CurrentSession, sessionOf } from '../../auth/session/request-session.js';
export { acceptsSessionCookie, SessionCookie, SessionStart } from '../../auth/session/session-cookie.js';
export { SessionGuard, SessionOnly } from '../../auth/session/session.guard.js';
export { accountMismatch } from '../../auth/session/session.middleware.js';
export { INVITATION_PATH, type LinkResult, LinkSignIn, RESET_PATH } from '../../auth/sign-in/link-sign-in.js';
export { PasswordChange } from '../../auth/sign-in/password-change.js';
export { SignInLimits } from '../../auth/sign-in/sign-in-limits.js';
export { SignIn, type Visitor } from '../../auth/sign-in/sign-in.js';
