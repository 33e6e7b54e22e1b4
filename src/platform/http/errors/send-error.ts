import type { Request } from 'express';
import type { ServerResponse } from 'node:http';
import type { ServiceError, ErrorCode, ErrorDetail } from '../../common/service-error.js';
import type { RequestContext } from '../request/request-context.js';
import { retryHeaders } from '../surface/surface.decorator.js';

/** The body of every error outside a stream. */
export interface ErrorBody {
  readonly error: {
    readonly code: ErrorCode;
    readonly message: string;
    readonly request_id: string;
    readonly details?: readonly ErrorDetail[];
  };
}

/** The maximum size of the body, as JSON in UTF-8. It is below 16 KB. */
const MAX_BYTES = 15_000;

/**
 * Creates the error body. Leaves out details from the end if all details would make the body too large: a character can
 * take 6 bytes.
 */
export function errorBody({ code, message, details }: ServiceError, requestId: string): ErrorBody {
  const brief = { code, message, request_id: requestId };
  if (details === undefined) return { error: brief };
  let count = details.length;
  while (count > 1 && bytesOf({ error: { ...brief, details: details.slice(0, count) } }) > MAX_BYTES) count -= 1;
  return { error: { ...brief, details: details.slice(0, count) } };
}

function bytesOf(body: ErrorBody): number {
  return Buffer.byteLength(JSON.stringify(body));
}

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
  context.sentError = { code, message };
}
