import type { Request } from 'express';

/** Whether errors are to be told as a page: to browsers, outside of the API. All others get the JSON of the interface. */
export function wantsPage(request: Request): boolean {
  return !/^\/api(?:[/?]|$)/.test(request.originalUrl) && request.accepts(['json', 'html']) === 'html';
}
