import type { IncomingMessage } from 'node:http';

const BEARER = /^bearer(?:\s|$)/i;

/** Whether the request shows a bearer token, good or not. It then stands for itself: no cookie is looked at. */
export function hasBearerHeader({ headers }: IncomingMessage): boolean {
  return headers.authorization !== undefined && BEARER.test(headers.authorization);
}
