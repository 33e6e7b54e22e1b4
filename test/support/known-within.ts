/** Within this time every process knows what another has changed: the end of a key or session, a tier, a role. */
export const KNOWN_WITHIN_MS = 1_000;
/** Until the streams of what has ended are over: two seconds, and what a busy machine takes to tell. */
export const ENDED_WITHIN_MS = 2_000 + 3_000;
