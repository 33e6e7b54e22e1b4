import { ServiceError } from '../../common/service-error.js';

/** What is wrong with a form: with all of it, and with its fields by name. */
export interface FormProblems {
  readonly error: ServiceError;
  readonly byField: ReadonlyMap<string, string>;
}

/** What the error says about the form; everything else is thrown on. */
export function problemsOf(error: unknown): FormProblems {
  if (!(error instanceof ServiceError) || error.code === 'internal_error') throw error;
  return { error, byField: new Map(error.details?.map(({ field, message }) => [field, message])) };
}
