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
