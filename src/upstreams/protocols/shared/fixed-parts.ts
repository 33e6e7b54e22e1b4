import type { StreamPart } from '../../contract/stream-part.js';

/** The most frequent results besides text. All events share them, because nearly every event of a provider returns one. */
export const NOTHING: readonly StreamPart[] = Object.freeze([]);
export const PROGRESS: readonly StreamPart[] = Object.freeze([Object.freeze({ type: 'progress' as const })]);
/** The end marker of a provider. All further events are ignored. */
export const END: readonly StreamPart[] = Object.freeze([Object.freeze({ type: 'complete' as const, last: true })]);
