import type { ServerResponse } from 'node:http';

const limited = new WeakSet<ServerResponse>();

/**
 * Marks a response whose sender limits how long the client may stop reading. Streams have a longer limit than other
 * responses.
 */
export function limitsItsReader(response: ServerResponse): void {
  limited.add(response);
}

/** Whether {@link limitsItsReader} was called for the response. */
export function isReaderLimited(response: ServerResponse): boolean {
  return limited.has(response);
}
