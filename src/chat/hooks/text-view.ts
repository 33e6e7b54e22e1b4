import type { ChatMessage, Role } from '../../upstreams/contract/protocol.js';
import type {
  AssistantMessage,
  ConversationRequest,
  Message,
  TextContent,
  ToolResult,
  UserMessage,
} from '../../upstreams/contract/conversation.js';
import type { ChatRequest } from '../request/chat-request.dto.js';
import { conversationMembers, textMembers } from '../request/conversation/conversation-validation.js';

type Change = (text: string, role: Role) => string;

/**
 * Returns a conversation as a hook sees it that knows texts only: each text is a message of its own, in order. Texts are also the
 * results of tools, with the role `user`, and earlier reasoning and the arguments of tool calls, with the role `assistant`.
 */
export function textView(request: ConversationRequest): ChatRequest {
  const messages: ChatMessage[] = [];
  const add: Change = (content, role) => {
    messages.push({ role, content });
    return content;
  };
  for (const message of request.messages) mapTexts(message, add);
  return { ...textMembers(request), messages } as ChatRequest;
}

/**
 * Returns the conversation with the changes that a hook has made to its {@link textView}. A text gets its changes by its position.
 * New messages of the role `system` may stand in front. Returns `undefined` if the messages of the hook fit in no such way.
 */
export function withTexts(request: ConversationRequest, changed: ChatRequest): ConversationRequest | undefined {
  const before = textView(request).messages;
  const added = changed.messages.length - before.length;
  const front = changed.messages.slice(0, Math.max(0, added));
  const rest = changed.messages.slice(front.length);
  const fits =
    added >= 0 &&
    front.every(({ role }) => role === 'system') &&
    rest.every(({ role }, index) => role === before[index]?.role);
  if (!fits) return undefined;
  let next = 0;
  const replace: Change = (text) => rest[next++]?.content ?? text;
  const messages: Message[] = [...front, ...request.messages.map((message) => mapTexts(message, replace))];
  return { ...(changed as ConversationRequest), messages, ...conversationMembers(request) };
}

/** Returns the message with each text that is not empty changed. */
function mapTexts(message: Message, change: Change): Message {
  const changed = (text: string, role: Role): string => (text === '' ? text : change(text, role));
  const withText = (part: TextContent, role: Role): TextContent => ({ ...part, text: changed(part.text, role) });
  if (typeof message.content === 'string')
    return { ...message, content: changed(message.content, roleOf(message)) } as Message;
  switch (message.role) {
    case 'system':
      return { role: 'system', content: message.content.map((part) => withText(part, 'system')) };
    case 'user':
      return { role: 'user', content: userParts(message.content) };
    case 'assistant':
      return { role: 'assistant', content: message.content.map(assistantPart) };
    case 'tool':
      return { role: 'tool', content: message.content.map(result) };
  }

  function userParts<Part extends Exclude<UserMessage['content'], string>[number]>(parts: readonly Part[]) {
    return parts.map((part) => (part.type === 'text' ? withText(part, 'user') : part));
  }

  function assistantPart(part: Exclude<AssistantMessage['content'], string>[number]): typeof part {
    if (part.type === 'text') return withText(part, 'assistant');
    if (part.type === 'tool_call') return { ...part, json: changed(part.json, 'assistant') };
    const text = changed(part.text, 'assistant');
    // The provider refuses a signature that does not fit to the text.
    return text === part.text ? part : { type: 'reasoning', text };
  }

  function result(part: ToolResult): ToolResult {
    const { content } = part;
    return { ...part, content: typeof content === 'string' ? changed(content, 'user') : userParts(content) };
  }
}

function roleOf({ role }: Message): Role {
  return role === 'tool' ? 'user' : role;
}
