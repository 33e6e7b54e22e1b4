const NOWHERE = 'http://nowhere.invalid';

/** The path with its query, if the text is a path of this very service: whatever else a link may carry is `undefined`. */
export function localPath(text: string | undefined): string | undefined {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text) || !URL.canParse(text, NOWHERE)) {
    return undefined;
  }
  const { origin, pathname, search } = new URL(text, NOWHERE);
  // Dots in a path can leave two slashes at its head.
  return origin === NOWHERE && !pathname.startsWith('//') ? `${pathname}${search}` : undefined;
}

/** The address of the page to sign in on that leads on to `path`. */
export function signInPath(path: string | undefined): string {
  const next = localPath(path);
  return next === undefined || next === '/' ? '/sign-in' : `/sign-in?${new URLSearchParams({ next }).toString()}`;
}
