import { randomBytes } from 'node:crypto';

/** Creates the id of a tool call, for a provider that sends none. */
export function madeCallId(): string {
  return `call_${randomBytes(12).toString('hex')}`;
}
