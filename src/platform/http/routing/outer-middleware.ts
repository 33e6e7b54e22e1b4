import { NotFoundException } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { ServiceError } from '../../common/service-error.js';
import { sendError } from '../errors/send-error.js';
import type { ServiceErrorFilter } from '../errors/service-error.filter.js';
import { beginContext } from '../request/request-context.js';

/** Programs send `HEAD` to their base URL to learn whether the service is there. */
const API_ROOT = /^\/api(?:\/v1)?\/?(?:\?|$)/i;
/** The path of a client whose base URL has the version, and which adds the version once more. */
const REPEATED_VERSION = /^\/api\/v1\/v1(?=[/?]|$)/i;

/** Takes a repeated version out of the path of a request. Must be called before any other code sees the path. */
export function withOneVersion(request: IncomingMessage): void {
  if (request.url !== undefined) request.url = request.url.replace(REPEATED_VERSION, '/api/v1');
}

/**
 * Responds to a request that has an `Expect` header with an unsupported value. Without this handler, Node responds without a
 * body.
 *
 * A request without a `Host` header is handled by {@link begin}, if the server has `requireHostHeader: false`.
 */
export function refuseExpectation(request: IncomingMessage, response: ServerResponse): void {
  beginContext(request, response);
  sendError(new ServiceError('invalid_request', 'The value of the Expect header is not supported.'), response, 417);
}

/**
 * Middleware that runs before all routes. Creates the request context, sets one security header, and refuses a request without
 * `Host`. One middleware does all of this, because every additional middleware costs time on every request.
 */
export function begin(request: Request, response: Response, next: NextFunction): void {
  beginContext(request, response);
  if (request.method === 'HEAD' && API_ROOT.test(request.url)) {
    response.end();
    return;
  }
  // The only security header that an API needs. The pages set their own security headers.
  response.setHeader('X-Content-Type-Options', 'nosniff');
  if (request.headers.host !== undefined || request.httpVersion === '1.0') next();
  else sendError(new ServiceError('invalid_request', 'The Host header is missing.'), response);
}

/** Creates the last middleware, which responds to requests that no route has handled. */
export function notFound(filter: ServiceErrorFilter): (request: Request, response: Response) => void {
  return (request, response) => {
    filter.respond(new NotFoundException(), request, response);
  };
}
