import type { StreamPart } from '../../contract/stream-part.js';
import type { JsonObject } from './json-object.js';
import { providerFailure } from '../../contract/provider-failure.js';
import { reportedFailure } from './reported-failure.js';

/** The most frequent results besides text. All events share them, because nearly every event of a provider returns one. */
export const NOTHING: readonly StreamPart[] = Object.freeze([]);
export const PROGRESS: readonly StreamPart[] = Object.freeze([Object.freeze({ type: 'progress' as const })]);
/** The end marker of a provider. All further events are ignored. */
export const END: readonly StreamPart[] = Object.freeze([Object.freeze({ type: 'complete' as const, last: true })]);

/** Returns the parts of an end marker. Without a finish reason, the marker does not say that the answer is complete. */
export function endMarkerParts(hasFinishReason: boolean): readonly StreamPart[] {
  if (hasFinishReason) return END;
  return [{ type: 'error', error: providerFailure('upstream_error', 'The answer ended without a finish reason.') }];
}

/**
 * Returns the parts of an event named `error`. `body` is the parsed data, if the data is an object.
 *
 * @since 1.0
 */
export function errorEventParts(data: string, body: JsonObject | undefined): readonly StreamPart[] {
  if (body === undefined)
    return [{ type: 'error', error: providerFailure('upstream_error', `A text of ${data.length} characters.`) }];
  return [{ type: 'error', error: reportedFailure(body.error ?? body, body) }];
}

/**
 * Returns the parts of an event that is not a JSON object: a failure, or nothing if the event has no data or `null`, and only keeps the
 * connection alive.
 *
 * @since 1.0
 */
export function unreadableEventParts(data: string): readonly StreamPart[] {
  const text = data.trim();
  if (text === '' || text === 'null') return NOTHING;
  // Log only the length, because the data may be a piece of an answer, and answers must not appear in logs.
  const detail = `The provider sent an event of ${data.length} characters that is not a JSON object, or too complex.`;
  return [{ type: 'error', error: providerFailure('upstream_error', detail) }];
}

/** A text with one of these characters is parsed as JSON. All other texts are the same inside and outside of JSON. */

const NEEDS_PARSER = /["\\\u0000-\u001f]/;
/** After this number of events that differ in more than their text, the provider's events are not compared any more. */
const MAX_MISSES = 8;

/**
 * Reads the text of an event that equals the event before it in all bytes around the text. Most events of a provider do, so
 * they need no JSON parser.
 */
export class RepeatedEvent {
  private before = '';
  private after = '';
  private misses = 0;

  /** Returns the text of the event. Returns `undefined` when the event must be parsed. */
  textOf(data: string): string | undefined {
    const { before, after } = this;
    if (before === '') return undefined;
    const end = data.length - after.length;
    if (end <= before.length) return undefined;
    // For long texts, this comparison is five times as fast as startsWith() and endsWith().
    if (data.slice(0, before.length) !== before || data.slice(end) !== after) return undefined;
    const text = data.slice(before.length, end);
    return NEEDS_PARSER.test(text) ? undefined : text;
  }

  /** Compares later events with a parsed event if its only part is a text. Call this for each parsed event. */
  record(data: string, parts: readonly StreamPart[]): void {
    const [only] = parts;
    if (parts.length !== 1 || only?.type !== 'text' || this.misses > MAX_MISSES) return;
    const json = JSON.stringify(only.text);
    const start = data.indexOf(json);
    // If the text occurs twice, it is unknown which occurrence is the answer.
    if (start === -1 || data.includes(json, start + 1)) return;
    const before = data.slice(0, start + 1);
    const after = data.slice(start + json.length - 1);
    if (before === this.before && after === this.after) return;
    if (this.before !== '') this.misses += 1;
    this.before = this.misses > MAX_MISSES ? '' : before;
    this.after = after;
  }
}
