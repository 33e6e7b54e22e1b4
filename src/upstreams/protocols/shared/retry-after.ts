/** The maximum value that the service sends to a client, in seconds. It limits the value of the provider. */
const MAX_SECONDS = 3_600;
/** The maximum length of a date, in characters. The longest HTTP date has the full name of the day and 33 characters. */
const MAX_LENGTH = 40;
/** The three forms of a date in HTTP (RFC 9110, section 5.6.7) begin with the name of a day. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

/**
 * Converts the `Retry-After` header of a provider to whole seconds from now, at most 3,600 (one hour). Returns `undefined`
 * for a value that is neither a whole number of seconds nor an HTTP date in the future.
 *
 * @param now milliseconds since 1970.
 */
export function retryAfterSeconds(sent: string | undefined, now: number): number | undefined {
  const text = sent?.trim();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  if (text.length > MAX_LENGTH || !DATE.test(text)) return undefined;
  // The oldest form contains no time zone and means GMT.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return at > now ? Math.min(Math.ceil((at - now) / 1000), MAX_SECONDS) : undefined;
}
