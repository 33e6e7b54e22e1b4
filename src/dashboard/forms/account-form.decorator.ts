import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { accountMismatch } from '../../auth/session/account-binding.js';
import { sessionOf } from '../../auth/session/request-session.js';

/**
 * Parameter decorator: the fields of a `PageForm` with an `accountId`.
 *
 * @throws {ServiceError} `account_mismatch` if another tab has signed in to another account since the form was made.
 */
export const AccountForm = createParamDecorator((_: unknown, context: ExecutionContext): unknown => {
  const request = context.switchToHttp().getRequest<Request>();
  const form = request.body as { readonly account_id?: string };
  const session = sessionOf(request);
  const mismatch = session && accountMismatch(form.account_id, session);
  if (mismatch !== undefined) throw mismatch;
  return form;
});
