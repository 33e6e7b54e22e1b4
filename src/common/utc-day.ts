export const DAY_MS = 86_400_000;

/** Returns the start of the day in UTC, in milliseconds since 1970. */
export function startOfDay(moment: number): number {
  return moment - (moment % DAY_MS);
}

/** Returns the day in UTC as `YYYY-MM-DD`. */
export function utcDay(moment: number | Date): string {
  return new Date(moment).toISOString().slice(0, 10);
}
