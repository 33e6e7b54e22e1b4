import type { ErrorDetail } from '../../../platform/common/service-error.js';
import { imagesOf } from '../../../upstreams/contract/message-texts.js';
import type { ConversationMembers } from './conversation-schema.js';

const MAX_IMAGES = 100;

/** Yields what is wrong between the members of a conversation: names and ids that do not fit together, and too many images. */
export function* conversationProblems(request: ConversationMembers): Generator<ErrorDetail, void> {
  yield* toolProblems(request);
  yield* callProblems(request.messages);
  const images = request.messages.reduce((count, message) => count + [...imagesOf(message)].length, 0);
  if (images > MAX_IMAGES) yield { field: 'messages', message: `must contain at most ${MAX_IMAGES} images` };
}

function* toolProblems({ tools = [], tool_choice: choice }: ConversationMembers): Generator<ErrorDetail, void> {
  const names = new Set<string>();
  for (const [index, { name }] of tools.entries()) {
    if (names.has(name)) yield { field: `tools.${index}.name`, message: 'must not be the name of another tool' };
    names.add(name);
  }
  if (typeof choice === 'object' && !names.has(choice.tool)) {
    yield { field: 'tool_choice.tool', message: 'must be the name of a tool of this request' };
  }
  if (choice === 'required' && tools.length === 0) {
    yield { field: 'tool_choice', message: 'must not be required without tools' };
  }
}

/** Checks that each result refers to an earlier call, and that each call has at most one result. */
function* callProblems(messages: ConversationMembers['messages']): Generator<ErrorDetail, void> {
  /** The calls that have no result so far. */
  const open = new Set<string>();
  for (const [at, message] of messages.entries()) {
    if (typeof message.content === 'string') continue;
    const ofMessage = new Set<string>();
    for (const [index, part] of message.content.entries()) {
      const problem = (member: string, text: string) => ({
        field: `messages.${at}.content.${index}.${member}`,
        message: text,
      });
      if ('toolCallId' in part) {
        if (open.delete(part.toolCallId)) continue;
        yield problem('toolCallId', 'must be the id of an earlier tool call without a result');
      } else if (part.type === 'tool_call') {
        if (ofMessage.has(part.id)) yield problem('id', 'must not be the id of another tool call');
        ofMessage.add(part.id);
        open.add(part.id);
      }
    }
  }
}
