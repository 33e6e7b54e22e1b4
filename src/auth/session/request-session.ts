import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { RequestContext } from '../../platform/http/request/request-context.js';
import type { Principal } from '../principal/principal.js';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import '../operators/operator-access.js';

declare module '../../platform/http/request/request-context.js' {
  interface RequestContext {
    /** Set by the session middleware; read it with `sessionOf`. */
    session?: VerifiedSession;
    /** Why the session of the cookie cannot be used: its lookup failed, or the page belongs to another account. */
    sessionFailure?: unknown;
  }
}

/**
 * Returns the session of the request. Works on any route and before any guard.
 *
 * @throws {ServiceError} when the page belongs to another account: `account_mismatch`. When the request has a session cookie
 * that could not be checked: `unavailable`, or
 * `rate_limit_exceeded` for a network that sends too many unknown tokens.
 */
export function sessionOf({ context }: Request): VerifiedSession | undefined {
  if (context.sessionFailure !== undefined) throw context.sessionFailure as Error;
  return context.session;
}

/** Parameter decorator: the session of the request, or `undefined`. Works on `@Public()` routes too. */
export const CurrentSession = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionOf(context.switchToHttp().getRequest<Request>()),
);

/** Returns the caller as far as it is known: the principal that a guard has accepted, or else the account of the session. */
export function callerIn({ principal, session }: RequestContext): Principal | undefined {
  return principal ?? (session && principalOfSession(session));
}

export function principalOfSession({ sessionId, account, expiresAt, readAt }: VerifiedSession): Principal {
  return { accountId: account.id, tier: account.tier, credential: { kind: 'session', sessionId, expiresAt, readAt } };
}

/** Ignores the session of the request, for routes that only keys may use. */
export function clearSession({ context }: Request): void {
  delete context.session;
  delete context.sessionFailure;
}

/** Returns who makes the changes of a request, and from which address, for the audit log. */
export function authorOf({ context, ip }: Request): ChangeAuthor {
  return { actor: actorIn(context), source: ip };
}

function actorIn(context: RequestContext): string {
  if (context.operatorKey !== undefined) return `operator-key:${context.operatorKey.id}`;
  const caller = callerIn(context);
  return caller === undefined ? 'visitor' : `account:${caller.accountId}`;
}
