import type { ChatCall } from '../../contract/chat-call.js';
import type { Message } from '../../contract/conversation.js';
import { InvalidMember } from '../shared/invalid-member.js';
import { systemBlocks, turnsOf, type AnthropicPrompt, type Block } from './anthropic-blocks.js';
import { markedForCache } from './prompt-cache.js';

/**
 * Returns the messages of a call as the two members of Anthropic: the system messages, and all others. Anthropic joins neighbouring
 * messages of one role.
 *
 * @param marksCache whether long prompts are marked for the prompt cache, unless the request has marks of its own.
 * @throws {ServiceError} `invalid_request` when the first message after the system messages is not one of the user.
 */
export function anthropicPrompt({ messages, tools }: ChatCall, marksCache: boolean): AnthropicPrompt {
  const turns = turnsOf(messages);
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

/** Returns plain texts as one text, and other contents as blocks. */
function systemOf(messages: readonly Message[]): string | readonly Block[] | undefined {
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => content);
  if (system.length === 0) return undefined;
  return system.every((content) => typeof content === 'string') ? system.join('\n\n') : systemBlocks(messages);
}

function isMarked({ content }: Message): boolean {
  return typeof content !== 'string' && content.some((part) => 'cache' in part && part.cache !== undefined);
}
