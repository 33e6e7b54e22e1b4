import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import passport, { type Strategy } from 'passport';
import { ServiceError } from '../../common/service-error.js';
import { IS_PUBLIC } from '../../http/routing/public.decorator.js';
import type { Principal } from '../principal/principal.js';
import { CHALLENGE } from './challenge.js';

/** Injection token of the application's strategies by name, in the order in which they run. */
export const NAMED_STRATEGIES = Symbol('NAMED_STRATEGIES');

/** Global guard: accepts requests with a valid credential, and all requests to routes that are `@Public()`. */
@Injectable()
export class AuthenticationGuard implements CanActivate {
  /** Not the default instance: all applications of the process share that one, and would replace each other's strategies. */
  private readonly passport = new passport.Passport();
  private readonly names: string[];

  constructor(
    private readonly reflector: Reflector,
    @Inject(NAMED_STRATEGIES) strategies: ReadonlyMap<string, Strategy>,
  ) {
    this.names = [...strategies.keys()];
    for (const [name, strategy] of strategies) this.passport.use(name, strategy);
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const isPublic = this.reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (isPublic === true) return true;
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    request.context.principal = await this.authenticate(request, http.getResponse<Response>());
    return true;
  }

  private authenticate(request: Request, response: Response): Promise<Principal> {
    return new Promise((resolve, reject) => {
      const decide = (error: unknown, principal?: Principal | false | null, challenges?: unknown): void => {
        if (error)
          reject(error instanceof Error ? error : new Error('An authentication strategy failed', { cause: error }));
        else if (principal) resolve(principal);
        else reject(refusal(challenges));
      };
      const ask = this.passport.authenticate(this.names, { session: false }, decide) as Middleware;
      // A strategy that calls `pass` leads to `next` without an error: no principal was found.
      ask(request, response, decide);
    });
  }
}

type Middleware = (request: Request, response: Response, next: (error?: unknown) => void) => void;

function refusal(challenges: unknown): ServiceError {
  const challenge = [challenges].flat().find((sent) => typeof sent === 'string') ?? CHALLENGE;
  const message = challenge.includes('invalid_token')
    ? 'The API key is unknown, expired or revoked.'
    : 'Send an API key as "Authorization: Bearer <API key>".';
  return new ServiceError('unauthenticated', message, { headers: { 'WWW-Authenticate': challenge } });
}
