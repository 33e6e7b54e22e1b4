import { applyDecorators, Post, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { accountMismatch } from '../../auth/session/account-binding.js';
import { sessionOf } from '../../auth/session/request-session.js';
import { Form } from '../../http/body/form/form.decorator.js';

/** Refuses a `PageForm` with an `accountId` if another tab has signed in to another account since the form was made. */
class BoundAccountGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const form = request.body as { readonly account_id?: string } | undefined;
    const session = sessionOf(request);
    const mismatch = session && accountMismatch(form?.account_id, session);
    if (mismatch !== undefined) throw mismatch;
    return true;
  }
}

/**
 * Marks a route that receives a form of somebody who is signed in. `@Body()` has the fields. The route answers 409
 * `account_mismatch` to a form of another account.
 */
export const PostForm = (path = ''): MethodDecorator =>
  applyDecorators(Post(path), Form(), UseGuards(BoundAccountGuard));
