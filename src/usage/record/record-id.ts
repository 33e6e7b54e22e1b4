import { randomUUID } from 'node:crypto';

/**
 * A UUID of version 7: later ones sort after earlier ones. The index of the records then grows at its end, where random ids
 * would have each record write a page of its own.
 *
 * @param now milliseconds since 1970.
 */
export function recordId(now: number): string {
  const moment = Math.floor(now).toString(16).padStart(12, '0');
  return `${moment.slice(0, 8)}-${moment.slice(8)}-7${randomUUID().slice(15)}`;
}
