const MAX_LENGTH = 254;

/** What a browser's `<input type="email">` takes (WHATWG HTML), so that form and service agree. */
const SYNTAX =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** The one spelling under which an address is kept and looked up. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/** @param email as {@link normalizeEmail} gives it. */
export function isEmail(email: string): boolean {
  return email.length <= MAX_LENGTH && SYNTAX.test(email);
}
