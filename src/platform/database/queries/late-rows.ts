/**
 * A transaction becomes visible later than the time of its rows. Each round of a reader reads this part of a log again, so that it
 * finds such rows. No transaction of the service takes so long.
 */
const READ_AGAIN_MS = 60_000;

interface LogRow {
  readonly id: string;
  /** The time in ISO 8601. */
  readonly at: string;
}

/** Finds the rows of a log that are new, although each round reads the end of the log again. */
export class LateRows {
  /** The ids of the rows that are read again, with their times. */
  private readonly known = new Map<string, string>();

  /** Returns the time from which to read, if rows up to `until` were read. An empty text: from the beginning. */
  static readAgainFrom(until: string): string {
    return until === '' ? '' : new Date(Date.parse(until) - READ_AGAIN_MS).toISOString();
  }

  /** Returns the rows that were not added before. */
  newAmong<Row extends LogRow>(rows: readonly Row[]): readonly Row[] {
    return rows.filter(({ id }) => !this.known.has(id));
  }

  add(rows: readonly LogRow[]): void {
    for (const { id, at } of rows) this.known.set(id, at);
  }

  /** Removes the rows that are not read again, if rows up to `until` were read. */
  removeBefore(until: string): void {
    const begin = LateRows.readAgainFrom(until);
    for (const [id, at] of this.known) if (at < begin) this.known.delete(id);
  }
}
