import type { ChatCall } from '../../contract/chat-call.js';
import type { Message } from '../../contract/conversation.js';
import { InvalidMember } from '../shared/option-members.js';
import { systemBlocks, turnsOf, type AnthropicPrompt, type Block, type Turn } from './anthropic-blocks.js';

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
