import type { Request } from 'express';
import { wantsPage } from '../errors/wants-page.js';
import { ServiceError } from '../../common/service-error.js';

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
