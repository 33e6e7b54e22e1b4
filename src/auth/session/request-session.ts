import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { VerifiedSession } from '../../accounts/sessions/sessions.service.js';
import type { Principal } from '../principal/principal.js';

declare module 'express-serve-static-core' {
  interface Request {
    /** Set by the session middleware; read it with `sessionOf`. */
    session?: VerifiedSession;
    /** Why nobody knows whether there is a session. */
    sessionFailure?: unknown;
  }
}

/**
 * Who is signed in, on any route and before any guard.
 *
 * @throws {ServiceError} `unavailable` when there is a cookie and nobody knows whether it is good.
 */
export function sessionOf({ session, sessionFailure }: Request): VerifiedSession | undefined {
  if (sessionFailure !== undefined) throw sessionFailure as Error;
  return session;
}

/** Parameter decorator: who is signed in, or `undefined`. For routes that are `@Public()`, too. */
export const CurrentSession = createParamDecorator((_: unknown, context: ExecutionContext) =>
  sessionOf(context.switchToHttp().getRequest<Request>()),
);

export function principalOfSession({ sessionId, account }: VerifiedSession): Principal {
  return { accountId: account.id, tier: account.tier, credential: { kind: 'session', sessionId } };
}
