/**
 * Returns the places of the stack, the caller of this function first. They are not put into words: to look up the lines of all places in
 * the source maps takes much longer than the rest.
 *
 * @param limit the maximum number of places.
 */
export function callSites(limit: number): readonly NodeJS.CallSite[] {
  const { prepareStackTrace, stackTraceLimit } = Error;
  Error.stackTraceLimit = limit;
  Error.prepareStackTrace = (_, sites) => sites;
  const holder: { stack?: unknown } = {};
  Error.captureStackTrace(holder, callSites);
  const sites = holder.stack as readonly NodeJS.CallSite[];
  Object.assign(Error, { prepareStackTrace, stackTraceLimit });
  return sites;
}
