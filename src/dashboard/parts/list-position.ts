/** The position at which a page of a list by time begins: after this entry. */
export interface ListPosition {
  /** ISO 8601 in UTC, with milliseconds. */
  readonly time: string;
  readonly id: string;
}

/** PostgreSQL accepts no NUL character in a text. */
const ID = /^[^\p{Cc}\p{Cs}]{0,255}$/u;
const ISO_LENGTH = '2026-01-01T00:00:00.000Z'.length;

/** Reads the position from the query of a page. An invalid position counts as none: the page begins with the latest entry. */
export function positionIn({ before, id }: Readonly<Record<string, unknown>>): ListPosition | undefined {
  if (typeof before !== 'string' || typeof id !== 'string' || !ID.test(id)) return undefined;
  const moment = new Date(before);
  if (Number.isNaN(moment.getTime())) return undefined;
  const time = moment.toISOString();
  // Years with more than four digits do not sort as texts.
  return time.length === ISO_LENGTH ? { time, id } : undefined;
}

/** The members of a query that {@link positionIn} reads. */
export function positionQuery({ time, id }: ListPosition): { readonly before: string; readonly id: string } {
  return { before: time, id };
}
