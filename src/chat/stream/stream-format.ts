import type { EventFormat } from './part-pump.js';
import { escapedLineEnds, hasLineEnds } from './line-ends.js';

/**
 * How a stream is written to its client. Each function returns the text to send, or `undefined` to send nothing. A format can
 * keep state, so create one for each response.
 *
 * @since 1.0
 *
 * @example
 * ```ts
 * const lines: StreamFormat = {
 *   contentType: 'application/x-ndjson',
 *   part: (part) => (part.type === 'text' ? `${JSON.stringify({ text: part.text })}\n` : undefined),
 *   keepAlive: () => '\n',
 *   end: () => '{"done":true}\n',
 *   error: ({ code, message }) => `${JSON.stringify({ error: { code, message } })}\n`,
 * };
 * ```
 */
export interface StreamFormat extends EventFormat<string> {
  /** The value of the header `Content-Type`. */
  readonly contentType: string;
}

/** The `Content-Type` of server-sent events. Without the encoding, some HTTP clients read Latin-1. */
export const EVENT_STREAM_TYPE = 'text/event-stream; charset=utf-8';

/**
 * Returns a server-sent event with the data as JSON. Readers that divide lines at U+2028, U+2029 or U+0085 read it, too.
 *
 * @param name the name of the event. Without it, the event is a `message`.
 * @since 1.0
 */
export function sseEvent(data: object, name?: string): string {
  const json = JSON.stringify(data);
  const safe = hasLineEnds(json) ? escapedLineEnds(json) : json;
  return name === undefined ? `data: ${safe}\n\n` : `event: ${name}\ndata: ${safe}\n\n`;
}
