import { createHash } from 'node:crypto';
import type {
  AssistantMessage,
  ImageContent,
  Message,
  ReasoningContent,
  SystemMessage,
  TextContent,
  ToolResult,
} from '../../contract/conversation.js';
import { parseJsonObject, type JsonObject } from '../shared/json-object.js';
import { joinedTexts, textsForJson, isSystem } from '../shared/provider-messages.js';

type Item = Readonly<Record<string, unknown>>;

interface Input {
  readonly instructions: string | object | undefined;
  readonly input: readonly Item[];
}

/** The maximum length of the id of a call. Other providers make longer ids. */
const MAX_CALL_ID_LENGTH = 64;
const HASH_LENGTH = 40;

/** Returns a conversation as items. The system messages at the beginning are the instructions, unless there is no other message. */
export function responsesInput(messages: readonly Message[]): Input {
  const first = messages.findIndex(({ role }) => role !== 'system');
  const leading = messages.slice(0, Math.max(first, 0)).filter(isSystem);
  return {
    instructions: instructionsOf(leading),
    input: messages.slice(leading.length).flatMap(itemsOf),
  };
}

function itemsOf(message: Message): readonly Item[] {
  switch (message.role) {
    case 'system':
      return [{ role: 'system', content: textsForJson(message.content) }];
    case 'user': {
      const { content } = message;
      return [{ role: 'user', content: typeof content === 'string' ? content : content.map(contentPart) }];
    }
    case 'assistant':
      return answerItems(message);
    case 'tool':
      return message.content.map(resultItem);
  }
}

function instructionsOf(messages: readonly SystemMessage[]): string | object | undefined {
  const [first, second] = messages;
  if (first === undefined || second === undefined) return first && textsForJson(first.content);
  return messages.map(({ content }) => joinedTexts(content)).join('\n\n');
}

function contentPart(part: TextContent | ImageContent): Item {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  return { type: 'input_image', image_url: part.url, detail: part.detail ?? 'auto' };
}

/** Reasoning without an item after it, for example of an answer that was cut, is left out: OpenAI refuses it. */
function answerItems({ content }: AssistantMessage): readonly Item[] {
  if (typeof content === 'string') return [{ role: 'assistant', content }];
  const last = content.findLastIndex(({ type }) => type !== 'reasoning');
  return content.slice(0, last + 1).flatMap((part): readonly Item[] => {
    switch (part.type) {
      case 'text':
        return [{ role: 'assistant', content: part.text }];
      case 'reasoning':
        return reasoningItem(part);
      case 'tool_call':
        return [{ type: 'function_call', call_id: callId(part.id), name: part.name, arguments: part.json }];
    }
  });
}

function resultItem({ toolCallId, content }: ToolResult): Item {
  const output = typeof content === 'string' ? content : content.map(contentPart);
  return { type: 'function_call_output', call_id: callId(toolCallId), output };
}

function callId(id: string): string {
  if (id.length <= MAX_CALL_ID_LENGTH) return id;
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, HASH_LENGTH)}`;
}

/**
 * Returns the state of a reasoning item: the item itself, which the next turn sends back unchanged. Returns `undefined` for an item that
 * nobody can read without the storage of the provider.
 */
export function reasoningState(sent: JsonObject): string | undefined {
  const isReadable = Boolean(sent.encrypted_content) || (Array.isArray(sent.content) && sent.content.length > 0);
  return isReadable ? JSON.stringify({ ...sent, status: undefined, summary: sent.summary ?? [] }) : undefined;
}

function reasoningItem({ encrypted }: ReasoningContent): readonly Item[] {
  const item = encrypted === undefined ? undefined : parseJsonObject(encrypted);
  return item === undefined ? [] : [{ ...item, type: 'reasoning' }];
}
