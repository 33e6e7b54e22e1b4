import { Inject, Injectable, type CanActivate, type ExecutionContext, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import passport, { type Strategy } from 'passport';
import { Extensions } from '../../common/extensions/extensions.js';
import { RouteMetadata } from '../../common/route-metadata.js';
import { ServiceError } from '../../common/service-error.js';
import { enterSurface } from '../../http/surface/enter-surface.js';
import { SURFACE, type SurfaceDescription } from '../../http/surface/surface.decorator.js';
import { IS_PUBLIC, READS_KEY } from '../../http/routing/public.decorator.js';
import type { Principal } from '../principal/principal.js';
import { PLUGIN_STRATEGIES, STRATEGIES, type StrategyType } from './all-strategies.js';
import { clearSession } from '../session/request-session.js';
import { SessionStrategy } from './session.strategy.js';
import { CHALLENGE, INVALID_TOKEN_CHALLENGE, UNKNOWN_KEY, unauthenticated } from '../bearer/challenge.js';
import { OperatorAccess } from '../operators/operator-access.js';
import { OPERATOR_API } from '../operators/operator-api.decorator.js';

/**
 * Global guard: accepts requests with a valid credential, and all requests to routes that are `@Public()`. Routes that are
 * `@OperatorApi()` are public for this purpose, but need an operator key.
 */
@Injectable()
export class AuthenticationGuard implements CanActivate, OnModuleInit {
  /** Not the default instance: all applications of the process share that one, and would replace each other's strategies. */
  private readonly passport = new passport.Passport();
  private readonly names: string[] = [];
  private hints = '';

  constructor(
    @Inject(RouteMetadata) private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
    private readonly extensions: Extensions,
    private readonly operators: OperatorAccess,
  ) {}

  onModuleInit(): void {
    for (const type of [...STRATEGIES, ...this.extensions.values(PLUGIN_STRATEGIES)]) {
      this.add(type, this.modules.get<Strategy>(type, { strict: false }));
    }
  }

  /** Adds a strategy, which runs after those that were added before. */
  add({ strategyName, hint }: Pick<StrategyType, 'strategyName' | 'hint'>, strategy: Strategy): void {
    this.passport.use(strategyName, strategy);
    this.names.push(strategyName);
    if (hint !== undefined) this.hints += ` ${hint}`;
  }

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const route = [context.getHandler(), context.getClass()];
    const surface = this.reflector.getAllAndOverride<SurfaceDescription | undefined>(SURFACE, route);
    if (surface !== undefined) enterSurface(http.getResponse<Response>(), surface);
    const isPublic = this.reflector.getAllAndOverride<boolean | undefined>(IS_PUBLIC, route) === true;
    const request = http.getRequest<Request>();
    if (isPublic) {
      if (this.reflector.get<boolean | undefined>(OPERATOR_API, context.getClass()) === true) {
        await this.operators.accept(request);
        return true;
      }
      const { authorization, 'x-api-key': apiKey } = request.headers;
      const hasCredential = authorization !== undefined || apiKey !== undefined;
      if (hasCredential && this.reflector.get<boolean | undefined>(READS_KEY, context.getHandler()) === true) {
        await this.readCredential(request, http.getResponse<Response>(), surface);
      }
      return true;
    }
    request.context.principal = await this.authenticate(request, http.getResponse<Response>(), surface);
    return true;
  }

  /** Accepts a request without a principal, too. @throws {ServiceError} when the credential may not be used here. */
  private async readCredential(
    request: Request,
    response: Response,
    surface: SurfaceDescription | undefined,
  ): Promise<void> {
    try {
      request.context.principal = await this.authenticate(request, response, surface);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'address_not_allowed') throw error;
    }
  }

  private authenticate(
    request: Request,
    response: Response,
    surface: SurfaceDescription | undefined,
  ): Promise<Principal> {
    let { names } = this;
    if (surface?.keysOnly === true) {
      names = names.filter((name) => name !== SessionStrategy.strategyName);
      clearSession(request);
    }
    return new Promise((resolve, reject) => {
      const decide = (error: unknown, principal?: Principal | false | null, challenges?: unknown): void => {
        if (error) reject(failureOf(error));
        else if (principal) resolve(principal);
        else reject(this.refusal(challenges, surface));
      };
      const authenticate = this.passport.authenticate(names, decide) as Middleware;
      // A strategy that calls `pass` leads to `next` without an error: no principal was found.
      authenticate(request, response, decide);
    });
  }

  private refusal(challenges: unknown, surface: SurfaceDescription | undefined): ServiceError {
    const challenge = [challenges].flat().find((sent) => typeof sent === 'string') ?? CHALLENGE;
    const message = challenge.includes('invalid_token')
      ? UNKNOWN_KEY
      : `Send an API key as "Authorization: Bearer <API key>"${alsoIn(surface)}.${this.hints}`;
    return unauthenticated(message, challenge);
  }
}

function alsoIn(surface: SurfaceDescription | undefined): string {
  return surface?.keyHeader === undefined ? '' : ` or "${surface.keyHeader}: <API key>"`;
}

type Middleware = (request: Request, response: Response, next: (error?: unknown) => void) => void;

/** A strategy may refuse a credential in its own words. The answer then still has a challenge, as HTTP demands. */
function failureOf(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error('An authentication strategy failed', { cause: thrown });
  const isRefusal = thrown instanceof ServiceError && thrown.code === 'unauthenticated';
  if (!isRefusal || thrown.headers['WWW-Authenticate'] !== undefined) return thrown;
  return unauthenticated(thrown.message, INVALID_TOKEN_CHALLENGE);
}
