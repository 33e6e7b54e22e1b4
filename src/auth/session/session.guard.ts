import { applyDecorators, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ServiceError } from '../../common/service-error.js';
import { hasBearerHeader } from '../strategies/bearer-header.js';
import { CHALLENGE } from '../strategies/challenge.js';
import { principalOfSession, sessionOf } from './request-session.js';

/** Lets only sessions in. Stands beside the authentication guard, which lets in other credentials, too. */
@Injectable()
export class SessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const session = sessionOf(request);
    if (session !== undefined) {
      // The route may be `@Public()`, where nobody has said who it is.
      request.user ??= principalOfSession(session);
      return true;
    }
    if (request.user !== undefined || hasBearerHeader(request)) {
      throw new ServiceError('forbidden', 'This is for the web application: an API key cannot be used here.');
    }
    throw new ServiceError('unauthenticated', 'Sign in first.', { headers: { 'WWW-Authenticate': CHALLENGE } });
  }
}

/** Only for who is signed in to the web application; no API key works. For a route, or all of a controller. */
export const SessionOnly = (): MethodDecorator & ClassDecorator => applyDecorators(UseGuards(SessionGuard));
