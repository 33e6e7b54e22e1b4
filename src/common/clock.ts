/** Wall-clock milliseconds since 1970. Injected, so that tests can move it. */
export type Clock = () => number;

/** Injection token of the {@link Clock}. */
export const CLOCK = Symbol('CLOCK');
