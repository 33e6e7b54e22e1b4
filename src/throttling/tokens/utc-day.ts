export const DAY_MS = 86_400_000;

/** Returns the start of the day in UTC, in milliseconds since 1970. */
export function startOfDay(now: number): number {
  return now - (now % DAY_MS);
}
