import type { ServerResponse } from 'node:http';

const limited = new WeakSet<ServerResponse>();

/** Says that the sender of this response itself limits how long its client may not read. Streams have a longer limit. */
export function limitsItsReader(response: ServerResponse): void {
  limited.add(response);
}

/** Whether {@link limitsItsReader} was called for the response. */
export function isReaderLimited(response: ServerResponse): boolean {
  return limited.has(response);
}
