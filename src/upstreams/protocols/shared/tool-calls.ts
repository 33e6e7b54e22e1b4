import type { StreamPart } from '../../contract/stream-part.js';
import { isJsonObject, isText } from './json-object.js';
import { randomBytes } from 'node:crypto';

const ID_BYTES = 12;

/** Makes the id of a tool call, for a provider that sends none. It is unique, because the next turns refer to it. */
export function newToolCallId(): string {
  return `call_${randomBytes(ID_BYTES).toString('hex')}`;
}

/** A tool call that a provider sends in one piece. Each member may have any type. */
export interface WholeCall {
  readonly id: unknown;
  readonly name: unknown;
  readonly args: unknown;
  readonly signature?: string | undefined;
}

/** Returns the parts of a tool call that a provider sends in one piece. */
export function wholeCallParts({ id, name, args, signature }: WholeCall): readonly StreamPart[] {
  const call = isText(id) ? id : newToolCallId();
  const json = typeof args === 'string' ? args : JSON.stringify(isJsonObject(args) ? args : {});
  return [
    {
      type: 'tool_call_start',
      id: call,
      name: isText(name) ? name : '',
      index: 0,
      ...(signature !== undefined && { signature }),
    },
    ...(json === '' ? [] : [{ type: 'tool_call_delta' as const, id: call, json }]),
    { type: 'tool_call_end', id: call },
  ];
}
