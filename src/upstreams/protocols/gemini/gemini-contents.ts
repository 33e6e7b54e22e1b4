import type { ChatCall } from '../../contract/protocol.js';
import type {
  AssistantMessage,
  ImageContent,
  Message,
  TextContent,
  ToolResult,
  UserMessage,
} from '../../contract/conversation.js';
import { CalledNames, argumentsObject } from '../shared/tool-calls.js';
import { requiredInlineImage, textsForJson } from '../shared/provider-messages.js';
import { InvalidMember } from '../shared/json-request.js';

type ContentsCall = Pick<ChatCall, 'messages' | 'modelThinking'>;
type Part = Readonly<Record<string, unknown>>;

interface Content {
  readonly role: 'user' | 'model';
  readonly parts: Part[];
}

export function systemInstruction(messages: readonly Message[]): object | undefined {
  const parts = messages.flatMap(({ role, content }) => {
    if (role !== 'system') return [];
    return typeof content === 'string' ? [{ text: content }] : content.map(({ text }) => ({ text }));
  });
  return parts.length === 0 ? undefined : { parts };
}

/**
 * Returns all messages except system messages. Joins neighbouring messages of one role, because Gemini can require that the
 * roles alternate.
 *
 * @throws {ServiceError} `invalid_request` when all messages are system messages, and for an image that is not a data URL.
 */
export function geminiContents({ messages, modelThinking }: ContentsCall): readonly Content[] {
  const contents: Content[] = [];
  const names = new CalledNames();
  for (const message of messages) {
    if (message.role === 'system') continue;
    names.add(message);
    const role = message.role === 'assistant' ? 'model' : 'user';
    const own = partsOf(message, names);
    const parts = modelThinking === 'budget' ? own : withSignature(own);
    if (parts.length === 0) continue;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts });
  }
  if (contents.length === 0)
    throw new InvalidMember('messages', 'must hold at least one message of role "user" for this model');
  return contents;
}

function partsOf(message: Exclude<Message, { role: 'system' }>, names: CalledNames): Part[] {
  switch (message.role) {
    case 'user':
      return userParts(message.content);
    case 'assistant':
      return answerParts(message.content);
    case 'tool':
      return message.content.flatMap((result) => resultParts(result, names.of(result)));
  }
}

/**
 * Gemini refuses an answer whose first function call has no signature, for example of another provider. Google names this value for such a
 * history. Models with a budget need no signatures.
 */
function withSignature(parts: Part[]): Part[] {
  const first = parts.findIndex((part) => 'functionCall' in part);
  if (first === -1 || parts[first]?.thoughtSignature !== undefined) return parts;
  return parts.with(first, { ...parts[first], thoughtSignature: 'skip_thought_signature_validator' });
}

function userParts(content: UserMessage['content']): Part[] {
  return typeof content === 'string' ? [{ text: content }] : content.map(contentPart);
}

function contentPart(part: TextContent | ImageContent): Part {
  if (part.type === 'text') return { text: part.text };
  const { mediaType, base64 } = requiredInlineImage(part);
  return { inlineData: { mimeType: mediaType, data: base64 } };
}

/** Leaves out reasoning of other providers. Gemini takes back its signatures at the part that had them. */
function answerParts(content: AssistantMessage['content']): Part[] {
  if (typeof content === 'string') return [{ text: content }];
  return content.flatMap((part): Part[] => {
    if (part.type === 'text') return [{ text: part.text }];
    const signed = part.signature === undefined ? undefined : { thoughtSignature: part.signature };
    if (part.type === 'tool_call') {
      return [{ functionCall: { name: part.name, args: argumentsObject(part.json) }, ...signed }];
    }
    return signed === undefined ? [] : [{ text: part.text, ...(part.text !== '' && { thought: true }), ...signed }];
  });
}

/** Returns the result of a function, and its images after it. */
function resultParts({ content, isError }: ToolResult, name: string): Part[] {
  const text = textsForJson(content);
  const images = typeof content === 'string' ? [] : content.filter(({ type }) => type === 'image').map(contentPart);
  return [{ functionResponse: { name, response: isError === true ? { error: text } : { result: text } } }, ...images];
}
