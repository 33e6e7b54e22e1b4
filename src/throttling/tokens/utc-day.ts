export const DAY_MS = 86_400_000;

/** The moment at which the day began in UTC, in milliseconds since 1970. */
export function startOfDay(now: number): number {
  return now - (now % DAY_MS);
}
