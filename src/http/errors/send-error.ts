import type { ServerResponse } from 'node:http';
import type { ServiceError } from '../../common/service-error.js';
import { requestIdOf } from '../request/request-id.js';
import { noteAnsweredError } from './answered-error.js';
import { errorBody } from './error-body.js';

/** Answers with the error. `status` where HTTP has a more exact one than the error's code. */
export function sendError(error: ServiceError, response: ServerResponse, status: number = error.status): void {
  noteAnsweredError(response, error.code);
  const body = Buffer.from(JSON.stringify(errorBody(error, requestIdOf(response))));
  const { retryAfterSeconds } = error;
  response.writeHead(status, {
    ...error.headers,
    ...(retryAfterSeconds === undefined ? {} : { 'Retry-After': retryAfterSeconds }),
    'Cache-Control': 'no-store',
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': body.length,
  });
  response.end(body);
}
