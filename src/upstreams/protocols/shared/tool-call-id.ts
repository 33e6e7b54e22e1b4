import { randomBytes } from 'node:crypto';

const ID_BYTES = 12;

/** Makes the id of a tool call, for a provider that sends none. It is unique, because the next turns refer to it. */
export function newToolCallId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}
