import { toPlainLine } from '../../plugin-api/core/common.js';

/** The paths of the pages. The controllers and the links use them. */

export const PLAYGROUND_PATH = '/playground';
/** The page that opens after sign-in, unless the user asked for another page. */
export const HOME = PLAYGROUND_PATH;
/** The first steps of a new account, and for visitors what the service is. */
export const START_PATH = '/';
export const API_KEYS_PATH = '/settings/api-keys';
export const ACCOUNT_PATH = '/settings/account';
export const ACTIVITY_PATH = '/settings/activity';
export const USAGE_PATH = '/usage';
export const OWN_REQUESTS_PATH = `${USAGE_PATH}/requests`;
export const REFUSED_PATH = `${USAGE_PATH}/refused`;
/** The documents of the service. */
export const DOCS_PATH = '/docs';
/** The description of the API. It has a layout of its own. */
export const REFERENCE_PATH = '/api/docs';

/** The pages of operators. */
export const ACCOUNTS_PATH = '/operator/accounts';
export const REQUESTS_PATH = '/operator/requests';
export const AUDIT_PATH = '/operator/audit';
export const STATUS_PATH = '/operator/status';
export const WEBHOOKS_PATH = '/operator/webhooks';
export const OPERATOR_KEYS_PATH = '/operator/keys';
export const INVITATIONS_PATH = '/operator/invitations';

/** The path of the page of an account for operators, or of one of its actions, such as `disable`. */
export function accountPath(accountId: string, action?: string): string {
  return [ACCOUNTS_PATH, accountId, ...(action === undefined ? [] : [action])].join('/');
}

/** The path of the page of operators that finds a request by its id. */
export function requestPath(requestId: string): string {
  return `${REQUESTS_PATH}?request=${encodeURIComponent(requestId)}`;
}

const NOWHERE = 'http://nowhere.invalid';
/** In characters. No page of this service has a longer path. */
const MAX_PATH_LENGTH = 2_000;

/** The path with its query, if the text is a path on this service. Returns `undefined` for all other values. */
export function localPath(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_PATH_LENGTH) return undefined;
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) || !URL.canParse(text, NOWHERE)) {
    return undefined;
  }
  const { origin, pathname, search } = new URL(text, NOWHERE);
  // A path with dot segments, such as `/.//host`, can begin with two slashes after URL parsing.
  return origin === NOWHERE && !pathname.startsWith('//') ? `${pathname}${search}` : undefined;
}

/** The path of the page, with the path that opens afterwards in the query parameter `next`. */
export function withNext(page: string, path: unknown): string {
  const next = localPath(path);
  return next === undefined || next === '/' ? page : `${page}?${new URLSearchParams({ next }).toString()}`;
}

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
