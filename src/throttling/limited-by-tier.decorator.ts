import { applyDecorators, SetMetadata, type Type } from '@nestjs/common';
import type { TierConfig } from '../platform/config/config.js';
import { BodyClass, type BodyParser } from '../platform/http/body/body-class.decorator.js';
import type { TokenDemand } from './limit-store.js';

export const LIMITED_BY_TIER = Symbol('LIMITED_BY_TIER');

/** How the requests of a route use tokens. */
export interface TokenUse<Body extends object = object> {
  /**
   * The class of the route's `@Body()`, or an object that checks the body and returns the value of `@Body()`. A request with an
   * invalid body uses no tokens.
   */
  readonly body: Type<Body> | BodyParser<Body>;
  /**
   * Returns the tokens that a request with this body may use. The body is valid.
   *
   * @param smallestLimit the smallest limit of tokens that the request must pass.
   */
  tokensOf(body: Body, tier: TierConfig, smallestLimit: number): TokenDemand | Promise<TokenDemand>;
}

/** The metadata of a route that is {@link LimitedByTier}. */
export interface RouteLimits {
  readonly tokenUse?: TokenUse | undefined;
  /** False when requests to the route only show the limits. */
  readonly counts?: boolean;
}

/**
 * Counts requests to this route, or to all routes of a controller, against the limits of the account's tier.
 *
 * @param tokenUse how the requests use tokens. Without it, requests use no tokens, and an account without remaining tokens
 *   may still use the route.
 * @since 1.0
 *
 * @example
 * ```ts
 * @LimitedByTier({ body: Summary, tokensOf: ({ text }) => ({ atLeast: 1, atMost: text.length }) })
 * ```
 */
export const LimitedByTier = <Body extends object>(tokenUse?: TokenUse<Body>): MethodDecorator & ClassDecorator =>
  applyDecorators(
    SetMetadata(LIMITED_BY_TIER, { tokenUse }),
    ...(tokenUse === undefined ? [] : [BodyClass(tokenUse.body)]),
  );

/** Sends the limit headers with the answers of the routes of a controller, without counting the requests. */
export const ShowsLimits = (): MethodDecorator & ClassDecorator => SetMetadata(LIMITED_BY_TIER, { counts: false });

export const OPENS_STREAM = 'opens-stream';

/**
 * Marks a route that answers with a long stream. The route answers 503 `unavailable` while the process has MAX_STREAMS open
 * streams or is overloaded. Its requests count against the limits of the tier: `@LimitedByTier()` adds how they use tokens.
 *
 * @since 1.0
 */
export const OpensStream = (): MethodDecorator & ClassDecorator => SetMetadata(OPENS_STREAM, true);
