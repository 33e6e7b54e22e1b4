import { joinedForJson } from '../../../platform/common/json/json-source.js';
import type { ChatMessage } from '../../contract/chat-call.js';
import type { Message } from '../../contract/conversation.js';

type Content = string | readonly { readonly type: string; readonly text?: string }[];

/** Whether the content of a message is one plain text. */
export function isPlain(message: Message): message is ChatMessage {
  return typeof message.content === 'string';
}

/**
 * Returns the messages as a protocol without capabilities reads them: each with one plain text. A message without a text is left
 * out. Messages that are plain stay as they are.
 */
export function plainMessages(messages: readonly Message[]): readonly ChatMessage[] {
  if (messages.every(isPlain)) return messages;
  return messages.map(plain).filter(({ content }) => content !== '');
}

function plain(message: Message): ChatMessage {
  if (isPlain(message)) return message;
  if (message.role === 'tool') return { role: 'user', content: '' };
  return { role: message.role, content: joinedTexts(message.content) };
}

/** Returns the texts of a content, each on a line of its own. */
export function joinedTexts(content: Content): string {
  return typeof content === 'string' ? content : textsOf(content).join('\n');
}

/** The same as a member of a JSON body. Long texts are not joined before they are written. */
export function textsForJson(content: Content): string | object {
  return typeof content === 'string' ? content : joinedForJson(textsOf(content));
}

function textsOf(content: Exclude<Content, string>): readonly string[] {
  return content.flatMap(({ type, text }) => (type === 'text' && text !== undefined ? [text] : []));
}
