const FIRST_MS = 10_000;
const FACTOR = 3;
const MAX_MS = 6 * 3_600_000;
/** Spreads the attempts of many events. */
const JITTER = 0.2;

/**
 * Returns the time to the next attempt, in milliseconds: from 10 seconds to 6 hours.
 *
 * @param attempts the number of failed attempts.
 * @param random from 0 to 1.
 */
export function retryDelayMs(attempts: number, random: number): number {
  const delay = Math.min(MAX_MS, FIRST_MS * FACTOR ** (attempts - 1));
  return Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
