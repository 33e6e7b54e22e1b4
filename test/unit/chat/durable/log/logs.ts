import { StreamMemory } from '../../../../../src/chat/durable/log/stream-memory.js';
import { ShedLoad } from '../../../../../src/common/shed-load.js';

export const DONE = { kind: 'done' } as const;
export const FAILED = { kind: 'failed', code: 'upstream_error', message: 'It failed.' } as const;
/** A character of two UTF-16 code units. */
export const FOX = '🦊';

/** Returns memory for 100,000 bytes of text. */
export function newMemory(): StreamMemory {
  return new StreamMemory({ streamMemoryBytes: 100_000 }, new ShedLoad());
}
