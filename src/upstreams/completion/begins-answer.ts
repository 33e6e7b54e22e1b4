import type { CompletionPart } from '../contract/stream-part.js';

/** Whether a reader sees this part of an answer. From the first such part on, no other route can be tried. */
export function beginsAnswer({ type }: CompletionPart): boolean {
  return type === 'text' || type === 'tool_call_start' || type === 'reasoning';
}
