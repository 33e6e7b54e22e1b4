import type { Message, SystemMessage, TextContent, UserMessage, ImageContent } from '../../contract/conversation.js';
import { joinedForJson } from '../../../platform/common/json/json-source.js';
import type { ChatMessage } from '../../contract/protocol.js';
import { InvalidMember } from './json-request.js';

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

/** The bytes of an image in a request. */
interface InlineImage {
  readonly mediaType: string;
  readonly base64: string;
}

const DATA_URL = /^data:([\w.+/-]+);base64,/;

/** Returns the bytes of an image with a data URL. Returns `undefined` for an image with another URL. */
export function inlineImage({ url }: Pick<ImageContent, 'url'>): InlineImage | undefined {
  const [head, mediaType] = DATA_URL.exec(url.slice(0, 100)) ?? [];
  return head === undefined || mediaType === undefined ? undefined : { mediaType, base64: url.slice(head.length) };
}

/** As {@link inlineImage}, for a provider that takes only bytes. @throws {ServiceError} `invalid_request` for another URL. */
export function requiredInlineImage(image: ImageContent): InlineImage {
  const inline = inlineImage(image);
  if (inline !== undefined) return inline;
  throw new InvalidMember(
    'messages',
    'must have each image as a data URL: the provider of this model does not fetch images',
  );
}
