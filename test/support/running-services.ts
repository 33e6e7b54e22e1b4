import type { Leftovers } from './leftovers.js';

/** The services that run in this process. After each test, a check looks for resources that they did not release. */
export const runningServices = new Set<{ readonly leftovers: Pick<Leftovers, 'none'> }>();
