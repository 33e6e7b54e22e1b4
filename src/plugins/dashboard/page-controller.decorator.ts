import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  Post,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import type { ChangeAuthor, VerifiedSession } from '../../plugin-api/core/accounts.js';
import { accountMismatch, authorOf, SessionGuard, sessionOf } from '../../plugin-api/core/auth.js';
import {
  ApiExcludeController,
  Form,
  invalidRequest,
  isPublic,
  OnlyIf,
  OutsideApi,
} from '../../plugin-api/core/http.js';
import type { QueryValues } from './paths.js';

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The stylesheet contains its icons as data URLs.
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/** The headers of every answer of a page. */
const SECURITY_HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  // Not "no-referrer": browsers would send "Origin: null" with forms.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
} as const;

/** The response headers of every page. */
export const PAGE_HEADERS = { ...SECURITY_HEADERS, 'Content-Type': 'text/html; charset=utf-8' } as const;

/** An additional header of pages served over TLS. Browsers ignore it without TLS, so http://localhost keeps working. */
export const HTTPS_ONLY = { 'Strict-Transport-Security': 'max-age=31536000' } as const;

/**
 * Marks a controller that serves pages. Its routes are outside the API and are not part of the OpenAPI document. They need a
 * session, unless they are `@OperatorOnly()` or `@Public()`, and answer with `Pages.send`. Every answer has the security headers
 * of a page, also if the route sends HTML of its own.
 *
 * @experimental
 * @since 1.0
 */
export const PageController = (path = ''): ClassDecorator =>
  applyDecorators(OutsideApi(path.replace(/^\//, '')), ApiExcludeController(), UseGuards(PageGuard));

/** Sets the headers of a page, and refuses who is not signed in, unless the route is open to visitors. */
@Injectable()
class PageGuard extends SessionGuard {
  constructor(private readonly reflector: Reflector) {
    super();
  }

  override canActivate(context: ExecutionContext): boolean {
    context.switchToHttp().getResponse<Response>().set(SECURITY_HEADERS);
    return isPublic(this.reflector, context) || super.canActivate(context);
  }
}

/** Marks a route, or all routes of a controller, that exists only if accounts can have passwords. */
export const WithPasswords = (): ClassDecorator & MethodDecorator => OnlyIf(({ passwords }) => passwords === 'on');

const WITHOUT_ACCOUNT = { field: 'account_id', message: 'is missing: PageForm sends it with the member accountId' };

/** Refuses a form without its account, and a form of another account, to which another tab has signed in since the form was made. */
class BoundAccountGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const form = request.body as { readonly account_id?: string } | undefined;
    const session = sessionOf(request);
    const mismatch = session && accountMismatch(form?.account_id, session);
    if (mismatch !== undefined) throw mismatch;
    if (session !== undefined && form?.account_id === undefined) throw invalidRequest([WITHOUT_ACCOUNT]);
    return true;
  }
}

/**
 * Marks a route that receives a form of somebody who is signed in. `@Body()` has the fields. The member `accountId` of
 * `PageForm` names the account: the route answers 409 `account_mismatch` to a form of another account, and 400 to a form without it.
 *
 * @experimental
 * @since 1.0
 */
export const PostForm = (path = ''): MethodDecorator =>
  applyDecorators(Post(path), Form(), UseGuards(BoundAccountGuard));

/** A request of somebody who is signed in, as the routes of pages read it. */
export interface PageRequest {
  readonly session: VerifiedSession;
  /** The account that is signed in. */
  readonly accountId: string;
  readonly query: QueryValues;
  /** The author of the changes that the request makes. */
  readonly author: ChangeAuthor;
  readonly response: Response;
}

/**
 * Parameter decorator: the {@link PageRequest}. For routes that are open only to sessions.
 *
 * @throws {Error} when the route is open to visitors.
 */
export const CurrentPageRequest = createParamDecorator((_: unknown, context: ExecutionContext): PageRequest => {
  const http = context.switchToHttp();
  const request = http.getRequest<Request>();
  const session = sessionOf(request);
  if (session === undefined) throw new Error('Nobody is signed in: the route is public, or its guard did not run.');
  const { query } = request;
  const response = http.getResponse<Response>();
  return { session, accountId: session.account.id, query, author: authorOf(request), response };
});
