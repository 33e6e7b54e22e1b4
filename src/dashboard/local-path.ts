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
export function withNext(page: '/sign-in' | '/sign-up' | '/sign-in/single-sign-on', path: unknown): string {
  const next = localPath(path);
  return next === undefined || next === '/' ? page : `${page}?${new URLSearchParams({ next }).toString()}`;
}
