/**
 * Returns the keys of an account, in the order that the scripts expect. The braces are a hash tag, so that all keys of an
 * account are in one slot of a cluster.
 */
export function accountKeys(accountId: string): [use: string, streams: string, reservations: string] {
  const prefix = `chat:{${accountId}}`;
  return [`${prefix}:use`, `${prefix}:streams`, `${prefix}:tokens`];
}
