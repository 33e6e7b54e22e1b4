import type { ChatMessage } from '../../contract/chat-call.js';

/**
 * The shortest prefix that is marked for the cache, in UTF-16 units. Anthropic caches prefixes from 1,024 tokens on, and
 * ignores marks on shorter ones.
 */
const MIN_PREFIX_LENGTH = 4_096;

/** Marks the end of a prefix that Anthropic may keep. The next request with the same prefix costs less. */
const MARK = { cache_control: { type: 'ephemeral' } } as const;

interface TextBlock {
  readonly type: 'text';
  readonly text: string;
  readonly cache_control?: (typeof MARK)['cache_control'];
}

interface Turn {
  readonly role: string;
  readonly content: string | readonly TextBlock[];
}

export interface CachedPrompt {
  readonly system: string | readonly TextBlock[] | undefined;
  readonly messages: readonly Turn[];
}

/**
 * Marks the system prompt and the turn before the last. All later requests of the conversation begin with the same turns, so
 * each request reads what the request before has written. A short prompt stays as it is.
 */
export function markedForCache(system: string | undefined, messages: readonly ChatMessage[]): CachedPrompt {
  const systemLength = system?.length ?? 0;
  const earlier = messages.slice(0, -1);
  const prefixLength = earlier.reduce((sum, { content }) => sum + content.length, systemLength);
  return {
    system: system !== undefined && systemLength >= MIN_PREFIX_LENGTH ? marked(system) : system,
    messages: messages.map((message, index) =>
      index === earlier.length - 1 && prefixLength >= MIN_PREFIX_LENGTH
        ? { role: message.role, content: marked(message.content) }
        : message,
    ),
  };
}

function marked(text: string): readonly TextBlock[] {
  return [{ type: 'text', text, ...MARK }];
}
