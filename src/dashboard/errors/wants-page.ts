import type { Request } from 'express';

/**
 * The longest `Accept` that is read. Browsers send 150 characters at most, and the library compares each type in the
 * header with each that we offer: 16 KB take it 10 ms.
 */
const MAX_ACCEPT_LENGTH = 1_024;

/** Whether errors are to be told as a page: to browsers, outside of the API. All others get the JSON of the interface. */
export function wantsPage(request: Request): boolean {
  const { accept = '' } = request.headers;
  if (accept.length > MAX_ACCEPT_LENGTH || /^\/api(?:[/?]|$)/.test(request.originalUrl)) return false;
  return request.accepts(['json', 'html']) === 'html';
}
