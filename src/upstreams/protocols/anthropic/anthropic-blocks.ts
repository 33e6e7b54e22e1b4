import type {
  AssistantMessage,
  CacheHint,
  ImageContent,
  Message,
  TextContent,
  ToolResult,
} from '../../contract/conversation.js';
import { inlineImage } from '../shared/data-url.js';
import { argumentsObject } from '../shared/tool-calls.js';

/** One block of a message, as Anthropic reads it. */
export type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** A message with a role of Anthropic. Results of tools are a message of the user. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Block[];
}

/** The messages of a request, as the two members of Anthropic. */
export interface AnthropicPrompt {
  readonly system: string | readonly Block[] | undefined;
  readonly messages: readonly Turn[];
}

/** Characters that Anthropic refuses in the id of a tool call. Other providers use some of them. */
const REFUSED_IN_IDS = /[^\w-]/g;

/**
 * Returns all messages except system messages. A message of one plain text stays as it is. Results of tools are joined with what the
 * user says next, because all results must follow their calls in one message.
 */
export function turnsOf(messages: readonly Message[]): readonly Turn[] {
  const turns: Turn[] = [];
  for (const message of messages) {
    if (message.role === 'system') continue;
    const turn = withoutBlank(turnOf(message));
    if (turn.content.length === 0) continue;
    const last = turns.at(-1);
    if (last?.role === 'user' && turn.role === 'user' && hasResult(last)) {
      turns[turns.length - 1] = { role: 'user', content: resultsFirst([...blocksOf(last), ...blocksOf(turn)]) };
    } else turns.push(turn);
  }
  return turns;
}

/** Returns the blocks of system messages. */
export function systemBlocks(messages: readonly Message[]): readonly Block[] {
  const blocks = messages.flatMap(({ role, content }): readonly Block[] => {
    if (role !== 'system') return [];
    return typeof content === 'string' ? [{ type: 'text', text: content }] : content.map(contentBlock);
  });
  return blocks.filter(isNotBlank);
}

/** Anthropic refuses a text of white space only. */
function withoutBlank({ role, content }: Turn): Turn {
  if (typeof content === 'string') return { role, content: content.trim() === '' ? '' : content };
  return content.every(isNotBlank) ? { role, content } : { role, content: content.filter(isNotBlank) };
}

function isNotBlank({ type, text }: Block): boolean {
  return type !== 'text' || typeof text !== 'string' || text.trim() !== '';
}

/** Whether a message begins with reasoning that Anthropic has signed. */
export function beginsWithReasoning({ content }: Turn): boolean {
  const first = typeof content === 'string' ? undefined : content[0]?.type;
  return first === 'thinking' || first === 'redacted_thinking';
}

/** The member that marks the end of a cached part. */
export function cacheMember(cache: CacheHint | undefined): object | undefined {
  if (cache === undefined) return undefined;
  return { cache_control: { type: 'ephemeral', ...(cache.ttl !== undefined && { ttl: cache.ttl }) } };
}

function turnOf(message: Exclude<Message, { role: 'system' }>): Turn {
  switch (message.role) {
    case 'user': {
      const { content } = message;
      return { role: 'user', content: typeof content === 'string' ? content : content.map(contentBlock) };
    }
    case 'assistant':
      return { role: 'assistant', content: answerBlocks(message) };
    case 'tool':
      return { role: 'user', content: message.content.map(resultBlock) };
  }
}

function contentBlock(part: TextContent | ImageContent): Block {
  if (part.type === 'text') return { type: 'text', text: part.text, ...cacheMember(part.cache) };
  const inline = inlineImage(part);
  const source =
    inline === undefined
      ? { type: 'url', url: part.url }
      : { type: 'base64', media_type: inline.mediaType, data: inline.base64 };
  return { type: 'image', source, ...cacheMember(part.cache) };
}

/** Leaves out reasoning of other providers: Anthropic takes only what it has signed. */
function answerBlocks({ content }: AssistantMessage): Turn['content'] {
  if (typeof content === 'string') return content;
  return content.flatMap((part): readonly Block[] => {
    switch (part.type) {
      case 'text':
        return [contentBlock(part)];
      case 'reasoning': {
        const { text, signature, encrypted } = part;
        if (encrypted !== undefined) return [{ type: 'redacted_thinking', data: encrypted }];
        return signature === undefined ? [] : [{ type: 'thinking', thinking: text, signature }];
      }
      case 'tool_call':
        return [{ type: 'tool_use', id: idOf(part.id), name: part.name, input: argumentsObject(part.json) }];
    }
  });
}

function resultBlock({ toolCallId, content, isError, cache }: ToolResult): Block {
  return {
    type: 'tool_result',
    tool_use_id: idOf(toolCallId),
    content: typeof content === 'string' ? content : content.map(contentBlock).filter(isNotBlank),
    ...(isError === true && { is_error: true }),
    ...cacheMember(cache),
  };
}

function idOf(id: string): string {
  return id.replaceAll(REFUSED_IN_IDS, '_');
}

function blocksOf({ content }: Turn): readonly Block[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

function hasResult(turn: Turn): boolean {
  return typeof turn.content !== 'string' && turn.content.some(({ type }) => type === 'tool_result');
}

function resultsFirst(blocks: readonly Block[]): readonly Block[] {
  const isResult = ({ type }: Block): boolean => type === 'tool_result';
  return [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))];
}
