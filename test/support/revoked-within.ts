/** Within this time after a key or session has ended, every process refuses it. */
export const REFUSED_WITHIN_MS = 1_000;
/** Two seconds, until its streams have ended, and what a busy machine takes to tell. */
export const ENDED_WITHIN_MS = 2_000 + 3_000;
