import { toPlainLine } from '../../../plugin-api/core/common.js';

/** The query of a page, as Express has read it. */
export type QueryValues = Readonly<Record<string, unknown>>;

/** The beginning of a value of the query. `undefined` if it is missing or empty: an empty field of a form is no filter. */
export function textIn(value: unknown, maxLength: number): string | undefined {
  if (typeof value !== 'string') return undefined;
  return toPlainLine(value).trim().slice(0, maxLength) || undefined;
}

/** The beginnings of several values of the query. */
export function textsIn<Name extends string>(
  query: QueryValues,
  names: readonly Name[],
  maxLength: number,
): Readonly<Partial<Record<Name, string | undefined>>> {
  const texts: Partial<Record<Name, string | undefined>> = {};
  for (const name of names) texts[name] = textIn(query[name], maxLength);
  return texts;
}

/** A value of the query that is one of the choices. */
export function choiceIn<T extends string>(value: unknown, choices: Readonly<Record<T, unknown>>): T | undefined {
  return (Object.keys(choices) as T[]).find((choice) => choice === value && choice !== '');
}

/** The path with the values in its query. Values that are `undefined` are left out. */
export function pathWith(path: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value));
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}
