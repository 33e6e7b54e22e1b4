import type { Request } from 'express';
import { wantsPage } from '../errors/wants-page.js';
import { ServiceError } from '../../common/service-error.js';

/** What is wrong with a form: with all of it, and with its fields by name. */
export interface FormProblems {
  readonly error: ServiceError;
  readonly byField: ReadonlyMap<string, string>;
}

/** What the error says about the form of a page. What is no such error is thrown on, and so is what no page asked for. */
export function problemsOf(error: unknown, request: Request): FormProblems {
  if (!(error instanceof ServiceError) || error.code === 'internal_error' || !wantsPage(request)) throw error;
  return { error, byField: new Map(error.details?.map(({ field, message }) => [field, message])) };
}
