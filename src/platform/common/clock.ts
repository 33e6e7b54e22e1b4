/**
 * Returns the wall-clock time in milliseconds since 1970. Uses the clock of the database, if the database has its own
 * clock. Injected, so that tests can change the time.
 *
 * @since 1.0
 */
export type Clock = () => number;

/**
 * Injection token of the {@link Clock}.
 *
 * @since 1.0
 */
export const CLOCK = Symbol('CLOCK');

export const MINUTE_MS = 60_000;
export const HOUR_MS = 60 * MINUTE_MS;
export const DAY_MS = 24 * HOUR_MS;

/** Returns the start of the day in UTC, in milliseconds since 1970. */
export function startOfDay(moment: number): number {
  return moment - (moment % DAY_MS);
}

/** Returns the day in UTC as `YYYY-MM-DD`. */
export function utcDay(moment: number | Date): string {
  return new Date(moment).toISOString().slice(0, 10);
}
