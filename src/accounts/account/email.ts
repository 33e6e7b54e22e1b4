const MAX_LENGTH = 254;

/** The syntax that a browser's `<input type="email">` accepts (WHATWG HTML), so that the form and the service agree. */
const SYNTAX =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;

/** Returns the form in which an address is stored and looked up. */
export function normalizeEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * Whether the text is an email address.
 *
 * @param email in the form that {@link normalizeEmail} returns.
 */
export function isEmail(email: string): boolean {
  return email.length <= MAX_LENGTH && SYNTAX.test(email);
}
