/**
 * Returns the Redis keys of an account, or of one of the keys of its limits, in the order that the scripts expect. The braces are a hash tag, so that all keys of an
 * account are in one slot of a cluster.
 */
export function accountKeys(accountId: string, key?: string): UseKeys {
  const prefix = key === undefined ? `chat:{${accountId}}` : `chat:{${accountId}}:key:${key}`;
  return [`${prefix}:use`, `${prefix}:streams`, `${prefix}:tokens`];
}

/** The Redis keys of an account, or of one of the keys of its limits. */
type UseKeys = [use: string, streams: string, reservations: string];
