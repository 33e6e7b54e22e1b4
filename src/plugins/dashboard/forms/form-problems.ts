import type { Request } from 'express';
import { ServiceError } from '../../../plugin-api/core/common.js';

/**
 * The problems of a form: the error of the whole form, and the messages of its fields by field name.
 *
 * @experimental
 * @since 1.0
 */
export interface FormProblems {
  readonly error: ServiceError;
  readonly byField: ReadonlyMap<string, string>;
  /** For operators: the id of the request, by which the page Requests finds it. */
  readonly requestId?: string | undefined;
}

/**
 * Reads the problems of a form from an error.
 *
 * @throws the error itself, if it is no `ServiceError`, if it is an internal error, or if the client expects no page.
 */
export function problemsOf(error: unknown, request: Request): FormProblems {
  if (!(error instanceof ServiceError) || error.code === 'internal_error' || !wantsPage(request)) throw error;
  const { requestId, session } = request.context;
  return {
    error,
    byField: new Map(error.details?.map(({ field, message }) => [field, message])),
    requestId: session?.account.role === 'operator' ? requestId : undefined,
  };
}

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
