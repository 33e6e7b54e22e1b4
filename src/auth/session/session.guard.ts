import { applyDecorators, Injectable, UseGuards, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { ServiceError } from '../../platform/common/service-error.js';
import { hasBearerHeader, unauthenticated } from '../bearer/bearer-header.js';
import { principalOfSession, sessionOf } from './request-session.js';

/** Accepts only sessions. Runs in addition to the authentication guard, which accepts other credentials too. */
@Injectable()
export class SessionGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const session = sessionOf(request);
    if (session !== undefined) {
      // On a `@Public()` route, the authentication guard does not set the user.
      request.context.principal ??= principalOfSession(session);
      return true;
    }
    if (request.context.principal !== undefined || hasBearerHeader(request)) {
      throw new ServiceError(
        'forbidden',
        'This path needs a session of the web application. It does not accept API keys.',
      );
    }
    throw unauthenticated('Sign in first.');
  }
}

/**
 * Accepts only requests with a session of the web application, and no API keys. For one route or a whole controller.
 *
 * @since 1.0
 */
export const SessionOnly = (): MethodDecorator & ClassDecorator => applyDecorators(UseGuards(SessionGuard));
