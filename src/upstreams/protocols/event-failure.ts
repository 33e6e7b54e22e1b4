import type { StreamPart } from '../stream-part.js';
import type { JsonObject } from './json-object.js';
import { reportedFailure, vendorFailure } from './vendor-failure.js';

/** The parts of an event named `error`. `body` is its data where that is an object. */
export function errorEventParts(data: string, body: JsonObject | undefined): readonly StreamPart[] {
  if (body === undefined)
    return [{ type: 'error', error: vendorFailure('upstream_error', `A text of ${data.length} characters.`) }];
  return [{ type: 'error', error: reportedFailure(body.error ?? body, body) }];
}

/** The parts of an event that the protocol does not know at all. */
export function unreadableEventParts(data: string): readonly StreamPart[] {
  // Its length only: it may be a piece of an answer, and no answer is logged.
  const detail = `The vendor sent an event of ${data.length} characters that is not a JSON object, or too complex.`;
  return [{ type: 'error', error: vendorFailure('upstream_error', detail) }];
}
