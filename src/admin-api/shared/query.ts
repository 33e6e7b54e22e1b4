import { ServiceError, type ErrorDetail } from '../../common/service-error.js';

/** The query of a request as Express parses it. */
export type QueryValues = Readonly<Record<string, string | string[] | undefined>>;

const MAX_LENGTH = 2_000;
/** PostgreSQL accepts no NUL character in a text. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Reads the parameters of a query.
 *
 * @throws {ServiceError} `invalid_request` for a parameter that is unknown, appears twice, or is no short line of text.
 */
export function parametersIn<Name extends string>(
  query: QueryValues,
  names: readonly Name[],
): { readonly [name in Name]?: string } {
  for (const [name, value] of Object.entries(query)) {
    if (!names.some((known) => known === name)) throw invalidParameter(name, 'is not a known parameter');
    if (typeof value !== 'string') throw invalidParameter(name, 'appears twice');
    if (value.length > MAX_LENGTH) throw invalidParameter(name, `must not be longer than ${MAX_LENGTH} characters`);
    if (UNUSABLE.test(value)) throw invalidParameter(name, 'must be one line of text');
  }
  return query as { readonly [name in Name]?: string };
}

/**
 * Checks that a parameter has one of some values.
 *
 * @throws {ServiceError} `invalid_request`
 */
export function oneOf<T extends string>(value: string | undefined, field: string, values: readonly T[]): T | undefined {
  if (value === undefined) return undefined;
  const found = values.find((each) => each === value);
  if (found === undefined) throw invalidParameter(field, `must be one of ${values.join(', ')}`);
  return found;
}

/** Creates the error for a parameter of the query. The name may be text of the caller. */
export function invalidParameter(name: string, message: string): ServiceError {
  const detail: ErrorDetail = { field: name.slice(0, 100), message };
  return new ServiceError('invalid_request', `The query is invalid: ${detail.field} ${message}.`, {
    details: [detail],
  });
}
