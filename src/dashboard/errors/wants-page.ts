import type { Request } from 'express';

/**
 * The maximum length of an `Accept` header that the service parses, in characters. Browsers send at most 150 characters.
 * The library compares each type in the header with each type that we offer: a header of 16 KB takes 10 ms.
 */
const MAX_ACCEPT_LENGTH = 1_024;

/** Whether errors are sent as a page: to browsers, outside the API. All other clients get the JSON errors of the API. */
export function wantsPage(request: Request): boolean {
  const { accept = '' } = request.headers;
  if (accept.length > MAX_ACCEPT_LENGTH || /^\/api(?:[/?]|$)/.test(request.originalUrl)) return false;
  return request.accepts(['json', 'html']) === 'html';
}
