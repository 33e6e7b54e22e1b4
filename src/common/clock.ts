/** Wall-clock milliseconds since 1970. That of the database, where it has one of its own. Injected, so that tests can move it. */
export type Clock = () => number;

/** Injection token of the {@link Clock}. */
export const CLOCK = Symbol('CLOCK');
