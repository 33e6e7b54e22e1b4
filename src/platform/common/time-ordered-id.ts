import { randomUUID } from 'node:crypto';

let lastMoment = -1;
let lastBeginning = '';

/**
 * Creates a UUID of version 7: later ids sort after earlier ids. So an index of the ids grows at its end. With random ids, each
 * row would write its own page of the index.
 *
 * @param now milliseconds since 1970.
 */
export function timeOrderedId(now: number): string {
  return `${earliestId(now)}7${randomUUID().slice(15)}`;
}

/** Returns a text that sorts before all ids of this millisecond, and after all earlier ids. */
export function earliestId(now: number): string {
  const moment = Math.max(0, Math.floor(now));
  if (moment !== lastMoment) {
    const digits = moment.toString(16).padStart(12, '0');
    lastMoment = moment;
    lastBeginning = `${digits.slice(0, 8)}-${digits.slice(8)}-`;
  }
  return lastBeginning;
}
