import type { Request } from 'express';
import type { ServerResponse } from 'node:http';
import type { ServiceError } from '../../common/service-error.js';
import type { RequestContext } from '../request/request-context.js';
import { retryHeaders } from '../surface/enter-surface.js';
import { errorBody } from './error-body.js';

/**
 * Sends the error as the response, in the format of the surface if there is one.
 *
 * @param status overrides the status of the error, if HTTP has a more exact one.
 */
export function sendError(error: ServiceError, response: ServerResponse, status: number = error.status): void {
  const { context } = response.req;
  recordSentError(error, context);
  const { surface } = context;
  const content = surface?.errorBody(error, response.req as Request) ?? errorBody(error, context.requestId);
  const body = Buffer.from(JSON.stringify(content));
  const { retryAfterSeconds } = error;
  response.writeHead(status, {
    ...error.headers,
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': retryAfterSeconds }),
    ...(surface === undefined ? {} : retryHeaders(error)),
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
  });
  response.end(body);
}

/** Keeps what is sent for the observers of the request. */
export function recordSentError({ code, message }: ServiceError, context: RequestContext): void {
  context.sentError = code;
  context.sentMessage = message;
}
