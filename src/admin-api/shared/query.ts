import { ServiceError, type ErrorDetail } from '../../common/service-error.js';

/** The query of a request as Express parses it. */
export type QueryValues = Readonly<Record<string, string | string[] | undefined>>;

/** The parameters of every list. */
const PAGING = ['limit', 'cursor'] as const;
const MAX_LENGTH = 2_000;
/** PostgreSQL accepts no NUL character in a text. */
const UNUSABLE = /[\p{Cc}\p{Cs}]/u;

/**
 * Reads the parameters of the query of a list.
 *
 * @param filters the parameters in addition to those of every list, as names.
 * @throws {ServiceError} `invalid_request` for a parameter that is unknown, appears twice, or is no short line of text.
 */
export function parametersIn<Filter extends string = never>(
  query: QueryValues,
  filters?: Readonly<Record<Filter, string>>,
): { readonly [name in Filter | (typeof PAGING)[number]]?: string } {
  const names: readonly string[] = [...PAGING, ...Object.keys(filters ?? {})];
  for (const [name, value] of Object.entries(query)) {
    if (!names.includes(name)) throw invalidParameter(name, 'is not a known parameter');
    if (typeof value !== 'string') throw invalidParameter(name, 'appears twice');
    if (value.length > MAX_LENGTH) throw invalidParameter(name, `must not be longer than ${MAX_LENGTH} characters`);
    if (UNUSABLE.test(value)) throw invalidParameter(name, 'must be one line of text');
  }
  return query as { readonly [name in Filter | (typeof PAGING)[number]]?: string };
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
