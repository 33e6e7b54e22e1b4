import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import type { ChangeAuthor } from '../../accounts/audit/audit-log.js';
import type { RequestContext } from '../../http/request/request-context.js';
import '../operators/operator-access.js';
import { callerIn } from './request-session.js';

/** Returns who makes the changes of a request, and from which address, for the audit log. */
export function authorOf({ context, ip }: Request): ChangeAuthor {
  return { actor: actorIn(context), source: ip };
}

function actorIn(context: RequestContext): string {
  if (context.operatorKey !== undefined) return `operator-key:${context.operatorKey.id}`;
  const caller = callerIn(context);
  return caller === undefined ? 'visitor' : `account:${caller.accountId}`;
}

/** Parameter decorator: the author of the changes that the request makes. See {@link authorOf}. */
export const Author = createParamDecorator((_: unknown, context: ExecutionContext) =>
  authorOf(context.switchToHttp().getRequest<Request>()),
);
