import type { Message, SystemMessage, TextContent, UserMessage } from '../../contract/conversation.js';
import { joinedTexts } from './plain-messages.js';

/**
 * Where system messages may be. `first`: only at the beginning, as the chat templates of many open models demand, so that a later one
 * becomes a text of the user. `anywhere`: a later one stays.
 */
type SystemPlace = 'first' | 'anywhere';

/** Marks a text of the user that was a system message. */
const MARK = '[System message]\n';

/** Returns the messages with at most one system message at the beginning. Messages that fit already stay as they are. */
export function systemMessagesAt(place: SystemPlace, messages: readonly Message[]): readonly Message[] {
  if (messages.every(({ role }, index) => role !== 'system' || index === 0)) return messages;
  const first = messages.findIndex(({ role }) => role !== 'system');
  const leading = (first === -1 ? messages : messages.slice(0, first)).filter(isSystem);
  const rest = messages.slice(leading.length);
  return [...joined(leading), ...(place === 'first' ? asUser(rest) : rest)];
}

function joined(messages: readonly SystemMessage[]): readonly Message[] {
  if (messages.length < 2) return messages;
  return [{ role: 'system', content: messages.map(({ content }) => joinedTexts(content)).join('\n\n') }];
}

/**
 * Turns system messages into texts of the user: of a neighbouring message if there is one, because some templates demand that the roles
 * alternate. The results of tools stay next to their calls.
 */
function asUser(messages: readonly Message[]): readonly Message[] {
  const placed: Message[] = [];
  let notes: string[] = [];
  const place = (): void => {
    const last = placed.at(-1);
    if (notes.length === 0) return;
    if (last?.role === 'user') placed[placed.length - 1] = withTexts(last, [], notes);
    else placed.push({ role: 'user', content: notes.join('\n\n') });
    notes = [];
  };
  for (const message of messages) {
    switch (message.role) {
      case 'system':
        notes.push(MARK + joinedTexts(message.content));
        break;
      case 'user':
        placed.push(notes.length === 0 ? message : withTexts(message, notes, []));
        notes = [];
        break;
      case 'assistant':
        place();
        placed.push(message);
        break;
      case 'tool':
        placed.push(message);
        break;
    }
  }
  place();
  return placed;
}

function withTexts({ content }: UserMessage, before: readonly string[], after: readonly string[]): UserMessage {
  if (typeof content === 'string') return { role: 'user', content: [...before, content, ...after].join('\n\n') };
  return { role: 'user', content: [...before.map(textContent), ...content, ...after.map(textContent)] };
}

function textContent(text: string): TextContent {
  return { type: 'text', text };
}

export function isSystem(message: Message): message is SystemMessage {
  return message.role === 'system';
}
