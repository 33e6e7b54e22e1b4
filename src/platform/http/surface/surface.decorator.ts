import { SetMetadata, type CustomDecorator, applyDecorators, Controller } from '@nestjs/common';
import type { Request, Response } from 'express';
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

/**
 * A placeholder for the prefix of the API while Nest builds paths.
 *
 * Nest can leave out its global prefix for listed paths. But a page may have the same name as a route of the API (`/usage`
 * and `/api/v1/usage`), and the list cannot tell the two apart. So the paths of all pages start with this mark.
 * {@link pathOutsideApi} removes the mark when Nest creates the route.
 */
export const OUTSIDE_API_MARK = '/outside-api';

/** The `exclude` option for `setGlobalPrefix`: excludes controllers that are {@link OutsideApi}. */
export const OUTSIDE_API_ROUTES: string[] = [OUTSIDE_API_MARK, `${OUTSIDE_API_MARK}/*path`];

/**
 * Declares a controller for pages and their files. Its paths begin at the root of the host, not at `/api/v1`.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * @OutsideApi('settings/api-keys')
 * class ApiKeysPage {
 *   @Get() show() {} // GET /settings/api-keys
 * }
 * ```
 */
export const OutsideApi = (path = ''): ClassDecorator => applyDecorators(Controller(`${OUTSIDE_API_MARK}/${path}`));

/** Returns the path at which a route is served: removes the mark of {@link OutsideApi}, if there is one. */
export function pathOutsideApi(path: string): string {
  if (path !== OUTSIDE_API_MARK && !path.startsWith(`${OUTSIDE_API_MARK}/`)) return path;
  return path.slice(OUTSIDE_API_MARK.length) || '/';
}

/** Clients of other APIs retry after at most this time. If a longer time is necessary, they should not retry. */
const MAX_WAIT_MS = 60_000;
/** A repetition of such a request gets the same answer. Some clients retry every error unless they are told not to. */
const NEVER_RETRIED: ReadonlySet<number> = new Set([400, 401, 403, 404, 409, 413]);

/** Applies the rules of the surface to the response. */
export function enterSurface(response: Response, surface: SurfaceDescription): void {
  const { context } = response.req;
  context.surface = surface;
  if (surface.headers === undefined || response.headersSent) return;
  for (const [name, value] of Object.entries(surface.headers(context.requestId))) response.setHeader(name, value);
}

/** Returns the headers by which clients of other APIs decide whether they retry. */
export function retryHeaders({ status, retryAfterMs }: ServiceError): Record<string, string> {
  return {
    ...(retryAfterMs !== undefined && { 'retry-after-ms': String(waitMs(retryAfterMs)) }),
    ...((NEVER_RETRIED.has(status) || (retryAfterMs ?? 0) > MAX_WAIT_MS) && { 'x-should-retry': 'false' }),
  };
}

/**
 * Returns whole milliseconds. SDKs accept a time from the server only below 60,000 ms, and otherwise retry after half a second: so a
 * minute is one millisecond shorter.
 */
function waitMs(ms: number): number {
  const whole = Math.max(1, Math.ceil(ms));
  return whole === MAX_WAIT_MS ? MAX_WAIT_MS - 1 : whole;
}
