import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServiceError } from '../../common/service-error.js';
import { timeOrderedId } from '../../common/time-ordered-id.js';

export const REQUEST_ID_HEADER = 'X-Request-Id';
const WELL_FORMED = /^[\w.:-]{1,128}$/;

/**
 * The state of one request that middleware, guards, controllers and observers share. Each folder declares its own members
 * by declaration merging.
 */
export interface RequestContext {
  readonly requestId: string;
  /** The error that was sent as the response. Its message can contain text of the caller. */
  sentError?: Pick<ServiceError, 'code' | 'message'>;
}

declare module 'http' {
  interface IncomingMessage {
    /** Set by {@link beginContext} before any other code sees the request. */
    context: RequestContext;
  }
}

/**
 * Creates the context of a request and sets the `X-Request-Id` of its response. Uses the id from the request if the id is
 * well-formed, otherwise a new UUID. New UUIDs are ordered by time, because the usage records have an index of these ids.
 */
export function beginContext(request: IncomingMessage, response: ServerResponse): void {
  const sent = request.headers['x-request-id'];
  const requestId = typeof sent === 'string' && WELL_FORMED.test(sent) ? sent : timeOrderedId(Date.now());
  request.context = { requestId };
  response.setHeader(REQUEST_ID_HEADER, requestId);
}
