import type {
  AssistantMessage,
  CacheHint,
  ImageContent,
  Message,
  TextContent,
  ToolResult,
} from '../../contract/conversation.js';
import { inlineImage } from '../shared/provider-messages.js';
import { argumentsObject } from '../shared/tool-calls.js';
import type { ChatCall } from '../../contract/protocol.js';
import { InvalidMember } from '../shared/json-request.js';

/** One block of a message, as Anthropic reads it. */
export type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** A message with a role of Anthropic. Results of tools are a message of the user. */
export interface Turn {
  readonly role: 'user' | 'assistant';
  readonly content: string | readonly Block[];
}

/** The messages of a request, as the two members of Anthropic. */
interface AnthropicPrompt {
  readonly system: string | readonly Block[] | undefined;
  readonly messages: readonly Turn[];
}

/** Characters that Anthropic refuses in the id of a tool call. Other providers use some of them. */
const REFUSED_IN_IDS = /[^\w-]/g;

/**
 * Returns all messages except system messages. A message of one plain text stays as it is. Results of tools are joined with what the
 * user says next, because all results must follow their calls in one message.
 */
function turnsOf(messages: readonly Message[]): readonly Turn[] {
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
function systemBlocks(messages: readonly Message[]): readonly Block[] {
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

/**
 * Returns the messages of a call as the two members of Anthropic: the system messages, and all others. Anthropic joins neighbouring
 * messages of one role.
 *
 * @param marksCache whether long prompts are marked for the prompt cache, unless the request has marks of its own.
 * @throws {ServiceError} `invalid_request` when the first message after the system messages is not one of the user.
 */
export function anthropicPrompt({ messages, tools }: ChatCall, marksCache: boolean): AnthropicPrompt {
  const turns = withoutTrailingSpace(turnsOf(messages));
  if (turns.length === 0)
    throw new InvalidMember('messages', 'must hold at least one message of role "user" for this model');
  if (turns[0]?.role !== 'user') {
    throw new InvalidMember(
      'messages',
      'must begin with a message of role "user", after those of role "system", for this model',
    );
  }
  const system = systemOf(messages);
  const hasMarks = messages.some(isMarked) || tools?.some(({ cache }) => cache !== undefined) === true;
  return marksCache && !hasMarks ? markedForCache(system, turns) : { system, messages: turns };
}

/** Anthropic refuses white space at the end of an answer that the model continues. */
function withoutTrailingSpace(turns: readonly Turn[]): readonly Turn[] {
  const last = turns.at(-1);
  if (last?.role !== 'assistant' || typeof last.content !== 'string') return turns;
  return [...turns.slice(0, -1), { role: 'assistant', content: last.content.trimEnd() }];
}

/** Returns plain texts as one text, and other contents as blocks. */
function systemOf(messages: readonly Message[]): string | readonly Block[] | undefined {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  if (system.length === 0) return undefined;
  if (!system.every((content) => typeof content === 'string')) return filled(systemBlocks(messages));
  return filled(system.filter((content) => content.trim() !== '').join('\n\n'));
}

function filled<Content extends string | readonly Block[]>(content: Content): Content | undefined {
  return content.length === 0 ? undefined : content;
}

function isMarked({ content }: Message): boolean {
  return typeof content !== 'string' && content.some((part) => 'cache' in part && part.cache !== undefined);
}

/**
 * The shortest prefix that is marked for the cache, in UTF-16 units. Anthropic caches prefixes from 1,024 tokens on, and
 * ignores marks on shorter ones.
 */
const MIN_PREFIX_LENGTH = 4_096;

/** Marks the end of a prefix that Anthropic may keep. The next request with the same prefix costs less. */
const MARK = { cache_control: { type: 'ephemeral' } } as const;

/**
 * Marks the system prompt and the turn before the last. All later requests of the conversation begin with the same turns, so
 * each request reads what the request before has written. A short prompt stays as it is.
 */
function markedForCache(system: AnthropicPrompt['system'], messages: readonly Turn[]): AnthropicPrompt {
  const systemLength = system === undefined ? 0 : lengthOf(system);
  const earlier = messages.slice(0, -1);
  const prefixLength = earlier.reduce((sum, { content }) => sum + lengthOf(content), systemLength);
  return {
    system: system !== undefined && systemLength >= MIN_PREFIX_LENGTH ? marked(system) : system,
    messages: messages.map((message, index) =>
      index === earlier.length - 1 && prefixLength >= MIN_PREFIX_LENGTH
        ? { role: message.role, content: marked(message.content) }
        : message,
    ),
  };
}

/** Returns the length of the texts. Other blocks do not count, so a prompt is rather left without a mark. */
function lengthOf(content: string | readonly Block[]): number {
  if (typeof content === 'string') return content.length;
  return content.reduce((sum, { text }) => sum + (typeof text === 'string' ? text.length : 0), 0);
}

/** Marks the last block. Anthropic takes no mark on reasoning. */
function marked(content: string | readonly Block[]): readonly Block[] {
  if (typeof content === 'string') return [{ type: 'text', text: content, ...MARK }];
  const last = content.findLastIndex(({ type }) => !type.endsWith('thinking'));
  return content.map((block, index) => (index === last ? { ...block, ...MARK } : block));
}
