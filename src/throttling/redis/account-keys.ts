/**
 * Returns the Redis keys of an account, or of one of its API keys, in the order that the scripts expect. The braces are a hash tag, so that all keys of an
 * account are in one slot of a cluster.
 */
export function accountKeys(accountId: string, apiKey?: string): UseKeys {
  const prefix = apiKey === undefined ? `chat:{${accountId}}` : `chat:{${accountId}}:key:${apiKey}`;
  return [`${prefix}:use`, `${prefix}:streams`, `${prefix}:tokens`];
}

/** The Redis keys of an account, or of one of its API keys. */
export type UseKeys = [use: string, streams: string, reservations: string];
