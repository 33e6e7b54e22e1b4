import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

export const REQUEST_ID_HEADER = 'X-Request-Id';

const WELL_FORMED = /^[\w.:-]{1,128}$/;

/** Gives the response an `X-Request-Id`, the caller's own where it sent a well-formed one. */
export function giveRequestId(request: IncomingMessage, response: ServerResponse): void {
  const sent = request.headers['x-request-id'];
  response.setHeader(REQUEST_ID_HEADER, typeof sent === 'string' && WELL_FORMED.test(sent) ? sent : randomUUID());
}

/** The id that {@link giveRequestId} gave. */
export function requestIdOf(response: ServerResponse): string {
  return String(response.getHeader(REQUEST_ID_HEADER));
}
