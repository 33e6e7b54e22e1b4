import { randomUUID } from 'node:crypto';

/**
 * Creates a UUID of version 7: later ids sort after earlier ids. So the index of the records grows at its end. With random
 * ids, each record would write its own page of the index.
 *
 * @param now milliseconds since 1970.
 */
export function recordId(now: number): string {
  return `${earliestId(now)}7${randomUUID().slice(15)}`;
}

/** Returns a text that sorts before all ids of this millisecond, and after all earlier ids. */
export function earliestId(now: number): string {
  const moment = Math.max(0, Math.floor(now)).toString(16).padStart(12, '0');
  return `${moment.slice(0, 8)}-${moment.slice(8)}-`;
}
