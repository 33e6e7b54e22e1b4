/** The shape of a label such as `rate_limit_exceeded`. A sentence of a conversation or a key does not have this shape. */
const IDENTIFIER = /^[A-Z][A-Z_.-]{0,63}$/i;
/** The shape of an HTTP status or of an error code. */
const SHORT_NUMBER = /^\d{1,5}$/;

/** Returns the label of a provider for a log line: an identifier, a short number, or `other`. */
export function loggedLabel(label: string | number): string {
  const text = String(label);
  return IDENTIFIER.test(text) || SHORT_NUMBER.test(text) ? text : 'other';
}
