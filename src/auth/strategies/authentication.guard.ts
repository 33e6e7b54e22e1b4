import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import { ServiceError } from '../../common/service-error.js';
import { IS_PUBLIC } from '../../http/routing/public.decorator.js';
import type { Principal } from '../principal/principal.js';
import { CHALLENGE } from './challenge.js';

/** Injection token of the names of all strategies, in the order in which they are asked. */
export const STRATEGY_NAMES = Symbol('STRATEGY_NAMES');

/** Global: lets in who shows a valid credential; everybody only where a route says `@Public()`. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  private readonly passport: CanActivate;

  constructor(
    private readonly reflector: Reflector,
    @Inject(STRATEGY_NAMES) names: string[],
  ) {
    this.passport = new (passportGuard(names))();
  }

  canActivate(context: ExecutionContext) {
    const isPublic =
      this.reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, [context.getHandler(), context.getClass()]) ??
      false;
    return isPublic || this.passport.canActivate(context);
  }
}

function passportGuard(names: string[]) {
  return class extends AuthGuard(names) {
    override handleRequest<T = Principal>(error: unknown, principal: T | false, challenges: unknown): T {
      if (error) throw error instanceof Error ? error : new Error('A strategy failed.', { cause: error });
      if (principal) return principal;
      const challenge = [challenges].flat().find((sent) => typeof sent === 'string') ?? CHALLENGE;
      const message = challenge.includes('invalid_token')
        ? 'The API key is unknown, expired or revoked.'
        : 'Send an API key as "Authorization: Bearer <API key>".';
      throw new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': challenge } });
    }
  };
}
