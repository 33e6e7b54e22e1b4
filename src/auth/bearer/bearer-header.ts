import type { IncomingMessage } from 'node:http';

const BEARER = /^bearer(?:\s|$)/i;

/** Whether the request has a bearer token, valid or invalid. The session cookie of such a request is ignored. */
export function hasBearerHeader({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined && BEARER.test(headers.authorization);
}
