import type { StreamPart } from '../stream-part.js';

/** What an event holds most often besides text, shared by all: nearly every vendor event of a busy server passes here. */
export const NOTHING: readonly StreamPart[] = Object.freeze([]);
export const PROGRESS: readonly StreamPart[] = Object.freeze([Object.freeze({ type: 'progress' as const })]);
/** The vendor's end marker: nothing that follows counts. */
export const END: readonly StreamPart[] = Object.freeze([Object.freeze({ type: 'complete' as const, last: true })]);
