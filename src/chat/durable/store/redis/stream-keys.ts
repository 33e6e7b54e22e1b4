/** The keys of one stream. The braces are a hash tag, so that all keys of a stream are in one slot of a cluster. */
export interface StreamKeys {
  /**
   * A hash: `gen` the id of this generation, `owner` the replica that generates, `state` (`waiting`, `running` or `ended`),
   * `wrap` the secret of the stream, sealed with the proof of the request, and `check`, which only the owner of the secret
   * can compute.
   */
  readonly meta: string;
  /** A stream: the text and the ending, sealed with the secret. */
  readonly text: string;
  /** A sorted set: the ids of the readers by expiry. */
  readonly readers: string;
}

/** @param generation the id of one generation: after the end of its retention, a key can lead to another generation. */
export function streamKeys(locator: string, generation: string): StreamKeys {
  const meta = metaKey(locator);
  return { meta, text: `${meta}:${generation}`, readers: `${meta}:${generation}:readers` };
}

export function metaKey(locator: string): string {
  return `chat:stream:{${locator}}`;
}

/** The key that exists while the replica lives. */
export function presenceKey(replica: string): string {
  return `chat:stream-replica:${replica}`;
}

/** The messages to a replica: the streams to cancel. */
export function inboxKey(replica: string): string {
  return `chat:stream-inbox:${replica}`;
}
