import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ChangeAuthor } from '../accounts/audit/audit-log.js';
import type { VerifiedSession } from '../accounts/sessions/sessions.service.js';
import { authorOf } from '../auth/session/change-author.decorator.js';
import { sessionOf } from '../auth/session/request-session.js';
import type { QueryValues } from './parts/query.js';

/** A request of somebody who is signed in, as the routes of pages read it. */
export interface Visit {
  readonly session: VerifiedSession;
  /** The account that is signed in. */
  readonly accountId: string;
  readonly query: QueryValues;
  /** The author of the changes that the request makes. */
  readonly author: ChangeAuthor;
  readonly response: Response;
}

/**
 * Parameter decorator: the {@link Visit}. For routes that are open only to sessions.
 *
 * @throws {Error} when the route is open to visitors.
 */
export const CurrentVisit = createParamDecorator((_: unknown, context: ExecutionContext): Visit => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const session = sessionOf(request);
  if (session === undefined) throw new Error('Nobody is signed in: the route is public, or its guard did not run.');
  const { query } = request;
  const response = http.getResponse<Response>();
  return { session, accountId: session.account.id, query, author: authorOf(request), response };
});
