import { createHash } from 'node:crypto';
import { invalidRequest } from '../../../http/request/invalid-request.js';

const TAG_LENGTH = 8;
const RADIX = 36;
const POSITION = /^([\w-]{8})-([\da-z]{1,9})$/;

/** Returns a text that only the positions of this stream begin with. */
export function positionTag(streamId: string): string {
  return createHash('sha256').update(`position ${streamId}`).digest('base64url').slice(0, TAG_LENGTH);
}

/** @param offset the number of UTF-16 units before the position. */
export function formatPosition(tag: string, offset: number): string {
  return `${tag}-${offset.toString(RADIX)}`;
}

/**
 * Returns the offset that `Last-Event-ID` names.
 *
 * @throws {ServiceError} `invalid_request` if the value is not a position of this stream. Text after a position of another
 * stream would not fit to what the client has.
 */
export function offsetOf(lastEventId: string, tag: string): number {
  const [, sentTag, offset] = POSITION.exec(lastEventId) ?? [];
  if (sentTag !== tag || offset === undefined) {
    throw invalidRequest([{ field: 'Last-Event-ID', message: 'must be the id of an event of this stream' }]);
  }
  return parseInt(offset, RADIX);
}
