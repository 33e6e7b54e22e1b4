const NOWHERE = 'http://nowhere.invalid';
/** No page of this service has a longer one. */
const LONGEST_PATH = 2_000;

/** The path with its query, if the text is a path of this very service: whatever else a link may carry is `undefined`. */
export function localPath(text: unknown): string | undefined {
  if (typeof text !== 'string' || text.length > LONGEST_PATH) return undefined;
  if (!/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) || !URL.canParse(text, NOWHERE)) {
    return undefined;
  }
  const { origin, pathname, search } = new URL(text, NOWHERE);
  // Dots in a path can leave two slashes at its head.
  return origin === NOWHERE && !pathname.startsWith('//') ? `${pathname}${search}` : undefined;
}

/** The page, with the path that it leads on to. */
export function withNext(page: '/sign-in' | '/sign-up', path: unknown): string {
  const next = localPath(path);
  return next === undefined || next === '/' ? page : `${page}?${new URLSearchParams({ next }).toString()}`;
}
