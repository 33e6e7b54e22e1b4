import { stringifyWithSources } from '../../platform/common/json/json-source.js';
import type { EventFormat } from './part-pump.js';

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
  const json = stringifyWithSources(data);
  const safe = hasLineEnds(json) ? escapedLineEnds(json) : json;
  return name === undefined ? `data: ${safe}\n\n` : `event: ${name}\ndata: ${safe}\n\n`;
}

/** Line ends of Unicode. JSON leaves them as they are, but simple readers divide the stream at them. */
const LINE_ENDS = /[\u0085\u2028\u2029]/;
const EACH_LINE_END = new RegExp(LINE_ENDS, 'g');

/** Whether the text has a line end that is only in Unicode. */
export function hasLineEnds(text: string): boolean {
  return LINE_ENDS.test(text);
}

/** Escapes the line ends of Unicode in a JSON text. */
export function escapedLineEnds(json: string): string {
  return json.replace(EACH_LINE_END, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
