import { SetMetadata, type CustomDecorator } from '@nestjs/common';
import type { Request } from 'express';
import type { ServiceError } from '../../common/service-error.js';
import type { Config } from '../../config/config.js';

export const SURFACE = Symbol('SURFACE');

/** A part of the API that follows the rules of another API, for clients that were written for the other API. */
export interface SurfaceDescription {
  /** Names the surface: 1 to 32 of `a-z`, `0-9` and `-`. */
  readonly name: string;
  /**
   * Returns the body of an error response. The service uses the body for every error at the paths of the surface, also if a
   * guard, the router or a parser raises the error. The body must be shorter than 16 KB; the message of the error is.
   */
  readonly errorBody: (error: ServiceError, request: Request) => object;
  /** A header with the API key, in lower case. It is read if the request has no `Authorization`. */
  readonly keyHeader?: string;
  /** Whether the session cookie is ignored, so that pages cannot use the routes. */
  readonly keysOnly?: boolean;
  /**
   * Whether the unknown members of a body with a class are ignored instead of refused. The response names them in
   * `X-Ignored-Parameters`. Members of nested objects are still refused.
   */
  readonly ignoresUnknown?: boolean;
  /** Returns more headers for each response, such as the request id under another name. */
  readonly headers?: (requestId: string) => Readonly<Record<string, string>>;
  /** Whether errors of unknown paths of the API have the body of this surface. Clients of other APIs ask for more than there is. */
  readonly answersUnknownPaths?: boolean;
  /** Whether the configuration has the surface. A surface that is not enabled has no routes. By default it is enabled. */
  readonly isEnabled?: (config: Config) => boolean;
}

declare module '../request/request-context.js' {
  interface RequestContext {
    /** The surface of the requested path. */
    surface?: SurfaceDescription;
  }
}

/**
 * Marks a controller whose routes follow the rules of another API:
 *
 * - Errors have the body of that API.
 * - Errors have the headers `retry-after-ms` and `x-should-retry`, as far as they apply.
 * - Responses of limited routes have `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` in addition to `X-RateLimit-*`.
 * - `CORS_ORIGINS` opens the paths to browsers.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * @Surface({ name: 'acme', keysOnly: true, errorBody: ({ message }) => ({ fault: message }) })
 * @Controller('acme')
 * class AcmeController {}
 * ```
 */
export const Surface = (description: SurfaceDescription): CustomDecorator<symbol> => SetMetadata(SURFACE, description);
