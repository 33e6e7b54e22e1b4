/**
 * The keys of an account, in the order in which the scripts expect them. The braces are a hash tag: all of an account lie
 * in one slot of a cluster.
 */
export function accountKeys(accountId: string): [use: string, streams: string, reservations: string] {
  const prefix = `chat:{${accountId}}`;
  return [`${prefix}:use`, `${prefix}:streams`, `${prefix}:tokens`];
}
