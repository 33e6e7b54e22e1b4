import type { ChatCall } from '../../contract/protocol.js';
import { anthropicPrompt, type Block, type Turn } from '../anthropic/anthropic-messages.js';
import { InvalidMember } from '../shared/json-request.js';

/** One block of a message, as Converse reads it: a member that names its kind. */
export type ConverseBlock = Readonly<Record<string, unknown>>;

interface ConverseMessage {
  readonly role: Turn['role'];
  readonly content: ConverseBlock[];
}

/** The messages of a request. */
export interface ConversePrompt {
  readonly system: readonly ConverseBlock[] | undefined;
  readonly messages: readonly ConverseMessage[];
  /** The messages in the form of Anthropic, from which those of Converse are made. */
  readonly turns: readonly Turn[];
}

/**
 * Returns the messages of a call. Converse has the contents of Anthropic with other names, so they are made from these. Neighbouring
 * messages of one role are joined, because Converse requires that the roles alternate.
 *
 * @param marksCache whether long prompts are marked for the prompt cache, unless the request has marks of its own.
 * @throws {ServiceError} `invalid_request` for an image that is not a data URL, and for messages that Anthropic refuses, too.
 */
export function conversePrompt(call: ChatCall, marksCache: boolean): ConversePrompt {
  const { system, messages: turns } = anthropicPrompt(call, marksCache);
  const messages: ConverseMessage[] = [];
  for (const { role, content } of turns) {
    const blocks = blocksOf(content);
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else messages.push({ role, content: blocks });
  }
  return { system: system === undefined ? undefined : blocksOf(system), messages, turns };
}

/** Returns the mark for the end of a part that the provider may cache, if there is one. */
export function cachePoints(cache: unknown): readonly ConverseBlock[] {
  if (typeof cache !== 'object' || cache === null) return [];
  const { ttl } = cache as { readonly ttl?: unknown };
  return [{ cachePoint: { type: 'default', ttl } }];
}

function blocksOf(content: string | readonly Block[]): ConverseBlock[] {
  if (typeof content === 'string') return [{ text: content }];
  return content.flatMap((block) => [converseBlock(block), ...cachePoints(block.cache_control)]);
}

function converseBlock(block: Block): ConverseBlock {
  switch (block.type) {
    case 'image':
      return imageBlock(block.source as ImageSource);
    case 'thinking':
      return { reasoningContent: { reasoningText: { text: block.thinking, signature: block.signature } } };
    case 'redacted_thinking':
      return { reasoningContent: { redactedContent: block.data } };
    case 'tool_use':
      return { toolUse: { toolUseId: block.id, name: block.name, input: block.input } };
    case 'tool_result': {
      const content = block.content as string | readonly Block[];
      // Converse refuses an empty text.
      const blocks = content === '' ? [] : blocksOf(content);
      const status = block.is_error === true ? 'error' : 'success';
      return { toolResult: { toolUseId: block.tool_use_id, content: blocks, status } };
    }
    default:
      return { text: block.text };
  }
}

type ImageSource =
  { readonly type: 'url' } | { readonly type: 'base64'; readonly media_type: string; readonly data: string };

function imageBlock(source: ImageSource): ConverseBlock {
  if (source.type === 'url') {
    const problem = 'must have each image as a data URL: the provider of this model does not fetch images';
    throw new InvalidMember('messages', problem);
  }
  return { image: { format: source.media_type.replace('image/', ''), source: { bytes: source.data } } };
}
