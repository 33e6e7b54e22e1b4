import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export const REQUEST_ID_HEADER = 'X-Request-Id';

const WELL_FORMED = /^[\w.:-]{1,128}$/;

/** Sets the `X-Request-Id` of the response. Uses the id from the request if the id is well-formed, otherwise a new UUID. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): void {
  const sent = request.headers['x-request-id'];
  response.setHeader(REQUEST_ID_HEADER, typeof sent === 'string' && WELL_FORMED.test(sent) ? sent : randomUUID());
}

/** Returns the request id that {@link giveRequestId} set. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(REQUEST_ID_HEADER));
}
