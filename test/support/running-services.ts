import type { Leftovers } from './leftovers.js';

/** The services that run in this process, for the check after each test. */
export const runningServices = new Set<{ readonly leftovers: Pick<Leftovers, 'none'> }>();
