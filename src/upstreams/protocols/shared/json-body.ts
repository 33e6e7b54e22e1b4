import type { ChatMessage } from '../../contract/chat-call.js';
import { jsonInSteps } from './json-in-steps.js';
import type { UpstreamRequest } from '../../contract/protocol.js';

/** A longer prompt, in UTF-16 units, is written in steps. */
const LONG_PROMPT = 64 * 1024;

/** Creates the body of a request with these messages. Members that are `undefined` are left out. */
export function jsonBody(members: object, messages: readonly ChatMessage[]): UpstreamRequest['body'] {
  let length = 0;
  for (const { content } of messages) length += content.length;
  return length > LONG_PROMPT ? jsonInSteps(members) : JSON.stringify(members);
}
