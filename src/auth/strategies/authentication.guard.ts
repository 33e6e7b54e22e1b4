import { Inject, Injectable, type ExecutionContext, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, Reflector } from '@nestjs/core';
import { AuthGuard } from '@nestjs/passport';
import type { Request, Response } from 'express';
import type { Strategy } from 'passport';
import { Extensions } from '../../platform/common/extensions/extensions.js';
import { RouteMetadata } from '../../platform/common/route-metadata.js';
import { ServiceError } from '../../platform/common/service-error.js';
import { enterSurface, SURFACE, type SurfaceDescription } from '../../platform/http/surface/surface.decorator.js';
import { isPublic, READS_KEY } from '../../platform/http/routing/route-decorators.js';
import type { Principal } from '../principal/principal.js';
import { PLUGIN_STRATEGIES, STRATEGIES, type StrategyType } from './all-strategies.js';
import { clearSession } from '../session/request-session.js';
import { CHALLENGE, INVALID_TOKEN_CHALLENGE, UNKNOWN_KEY, unauthenticated } from '../bearer/bearer-header.js';
import { OPERATOR_API, OperatorAccess } from '../operators/operator-access.js';

/**
 * Global guard: accepts requests with a valid credential, and all requests to routes that are `@Public()`. Routes that are
 * `@OperatorApi()` are public for this purpose, but need an operator key.
 *
 * The guard names the strategies to Passport by their objects. Names would be those of all applications of the process.
 */
@Injectable()
export class AuthenticationGuard extends AuthGuard() implements OnModuleInit {
  private readonly strategies: Strategy[];
  private hints = '';

  constructor(
    @Inject(RouteMetadata) private readonly reflector: Reflector,
    private readonly modules: ModuleRef,
    private readonly extensions: Extensions,
    private readonly operators: OperatorAccess,
  ) {
    const strategies: Strategy[] = [];
    // Passport takes objects, too. The types of Nest know names only.
    super({ defaultStrategy: strategies as unknown as string[] });
    this.strategies = strategies;
  }

  onModuleInit(): void {
    for (const type of [...STRATEGIES, ...this.extensions.values(PLUGIN_STRATEGIES)]) {
      this.add(this.modules.get<Strategy>(type, { strict: false }), type);
    }
  }

  /** Adds a strategy, which runs after those that were added before. */
  add(strategy: Strategy, { hint }: Pick<StrategyType, 'hint'> = {}): void {
    this.strategies.push(separatedByRequest(strategy));
    if (hint !== undefined) this.hints += ` ${hint}`;
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const surface = this.surfaceOf(context);
    if (surface !== undefined) enterSurface(context.switchToHttp().getResponse<Response>(), surface);
    if (!isPublic(this.reflector, context)) return this.authenticate(context, surface);
    const request = context.switchToHttp().getRequest<Request>();
    if (this.reflector.get<boolean | undefined>(OPERATOR_API, context.getClass()) === true) {
      await this.operators.accept(request);
    } else if (
      hasCredential(request) &&
      this.reflector.get<boolean | undefined>(READS_KEY, context.getHandler()) === true
    ) {
      await this.readCredential(context, surface);
    }
    return true;
  }

  override handleRequest<User>(
    error: unknown,
    principal: User | false | null,
    challenges: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw failureOf(error);
    if (!principal) throw this.refusal(challenges, this.surfaceOf(context));
    context.switchToHttp().getRequest<Request>().context.principal = principal as unknown as Principal;
    return principal;
  }

  /**
   * Accepts a request without a principal, too: but clients of another API learn from their list of models whether the key is valid.
   *
   * @throws {ServiceError} when the credential may not be used here, and on a surface also when it is invalid.
   */
  private async readCredential(context: ExecutionContext, surface: SurfaceDescription | undefined): Promise<void> {
    try {
      await this.authenticate(context, surface);
    } catch (error) {
      const { code } = error instanceof ServiceError ? error : {};
      if (code === 'address_not_allowed' || (code === 'unauthenticated' && surface !== undefined)) throw error;
    }
  }

  private async authenticate(context: ExecutionContext, surface: SurfaceDescription | undefined): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    // The strategy of sessions then finds none.
    if (surface?.keysOnly === true) clearSession(request);
    await super.canActivate(context);
    // A strategy that calls `pass` ends the search without a principal.
    if (request.context.principal === undefined) throw this.refusal(undefined, surface);
    return true;
  }

  private surfaceOf(context: ExecutionContext): SurfaceDescription | undefined {
    return this.reflector.getAllAndOverride<SurfaceDescription | undefined>(SURFACE, [
      context.getHandler(),
      context.getClass(),
    ]);
  }

  private refusal(challenges: unknown, surface: SurfaceDescription | undefined): ServiceError {
    const challenge = [challenges].flat().find((sent) => typeof sent === 'string') ?? CHALLENGE;
    const message = challenge.includes('invalid_token')
      ? UNKNOWN_KEY
      : `Send an API key as "Authorization: Bearer <API key>"${alsoIn(surface)}.${this.hints}`;
    return unauthenticated(message, challenge);
  }
}

/**
 * Passport sets its callbacks on a strategy that it gets as an object, right before the call. Requests that run at the same time would
 * get the outcome of each other, so each call has an object of its own.
 */
function separatedByRequest(strategy: Strategy): Strategy {
  const separated: Callable = {
    authenticate(this: object, ...call) {
      Object.assign(Object.create(strategy) as Callable, this).authenticate(...call);
    },
  };
  return Object.create(separated) as Strategy;
}

interface Callable {
  authenticate(...call: Parameters<Strategy['authenticate']>): void;
}

/** Whether the request has a credential of a program. Programs without a key send an empty one. */
function hasCredential({ headers: { authorization, 'x-api-key': apiKey = '' } }: Request): boolean {
  return apiKey !== '' || (authorization !== undefined && !/^(?:bearer\s*)?$/i.test(authorization));
}

function alsoIn(surface: SurfaceDescription | undefined): string {
  return surface?.keyHeader === undefined ? '' : ` or "${surface.keyHeader}: <API key>"`;
}

/** A strategy may refuse a credential in its own words. The answer then still has a challenge, as HTTP demands. */
function failureOf(thrown: unknown): Error {
  if (!(thrown instanceof Error)) return new Error('An authentication strategy failed', { cause: thrown });
  const isRefusal = thrown instanceof ServiceError && thrown.code === 'unauthenticated';
  if (!isRefusal || thrown.headers['WWW-Authenticate'] !== undefined) return thrown;
  return unauthenticated(thrown.message, INVALID_TOKEN_CHALLENGE);
}
