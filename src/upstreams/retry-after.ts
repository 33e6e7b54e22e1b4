/** A client is never told to wait longer, whatever a vendor asks for. */
const MAX_SECONDS = 3_600;
/** The longest form of a date in HTTP, with the full name of the day, has 33 characters. */
const MAX_LENGTH = 40;
/** The three forms of a date in HTTP (RFC 9110, section 5.6.7) begin with the name of a day. */
const DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

/**
 * `Retry-After` of a vendor as whole seconds from now, at most an hour. `undefined` for anything but a whole number of
 * seconds or a date of HTTP in the future.
 *
 * @param now milliseconds since 1970.
 */
export function retryAfterSeconds(sent: string | undefined, now: number): number | undefined {
  const text = sent?.trim();
  if (text === undefined) return undefined;
  if (/^\d+$/.test(text)) return Math.min(Number(text), MAX_SECONDS);
  if (text.length > MAX_LENGTH || !DATE.test(text)) return undefined;
  // The oldest form names no time zone and means GMT.
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return at > now ? Math.min(Math.ceil((at - now) / 1000), MAX_SECONDS) : undefined;
}
