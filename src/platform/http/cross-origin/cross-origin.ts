import type { Request, Response } from 'express';
import type { Config } from '../../config/config.js';
import { allowedMethods } from '../errors/service-error.filter.js';
import { requestedPath, type Surfaces } from '../surface/surfaces.js';

/** The paths that are open in addition to the surfaces. */
const CHAT_PATHS = /^\/api\/v1\/chat\//i;
/** The header names that a page may send. A browser asks for them by name. */
const HEADER_NAMES = /^[\w, -]{1,2000}$/;
/** How long a browser may keep the permission, in seconds. */
const MAX_AGE_SECONDS = 600;

/**
 * Opens the API to pages of the origins in `CORS_ORIGINS` (the Fetch standard, "CORS protocol"). It never allows credentials, so a
 * page needs an API key and cannot use the session of its visitor.
 */
export class CrossOrigin {
  private readonly origins: ReadonlySet<string>;

  constructor(
    { corsOrigins }: Pick<Config, 'corsOrigins'>,
    private readonly surfaces: Pick<Surfaces, 'at'>,
  ) {
    this.origins = new Set(corsOrigins);
  }

  /**
   * Sets the headers for a page of an allowed origin.
   *
   * @returns true when the request was a preflight, and has its response.
   */
  handle(request: Request, response: Response): boolean {
    const { origin } = request.headers;
    if (this.origins.size === 0 || !this.isOpen(request)) return false;
    response.setHeader('Vary', 'Origin');
    if (origin === undefined || !this.origins.has(origin)) return false;
    response.setHeader('Access-Control-Allow-Origin', origin);
    const method = request.headers['access-control-request-method'];
    if (request.method !== 'OPTIONS' || method === undefined) {
      response.setHeader('Access-Control-Expose-Headers', '*');
      return false;
    }
    const names = request.headers['access-control-request-headers'];
    if (names !== undefined && HEADER_NAMES.test(names)) response.setHeader('Access-Control-Allow-Headers', names);
    response.setHeader('Access-Control-Allow-Methods', allowedMethods(request).join(', '));
    response.setHeader('Access-Control-Max-Age', MAX_AGE_SECONDS);
    response.statusCode = 204;
    response.end();
    return true;
  }

  private isOpen(request: Request): boolean {
    return CHAT_PATHS.test(requestedPath(request)) || this.surfaces.at(request) !== undefined;
  }
}
