import type { AnthropicPrompt, Block, Turn } from './anthropic-blocks.js';

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
export function markedForCache(system: AnthropicPrompt['system'], messages: readonly Turn[]): AnthropicPrompt {
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
