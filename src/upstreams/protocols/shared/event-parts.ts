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
