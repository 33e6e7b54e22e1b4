import type { ImageContent, ReasoningContent, TextContent, ToolResult } from '../../../../plugin-api/core/upstreams.js';
import { partsOf, pathsOf, withoutEmpty, type Located, type MappedMessage } from '../../shared/body-fields.js';
import { answerContent, imageContent, isEmptyText, textContent, toolResult } from './blocks-to-contents.js';
import type { AssistantBlock, MessageBody, SystemContent, UserBlock } from './content-blocks.js';

type AssistantContent = NonNullable<ReturnType<typeof answerContent>>;

/** Returns the messages of a conversation. Tool results become messages of their own. */
export function conversationMessages(
  system: SystemContent | null | undefined,
  messages: readonly MessageBody[],
): MappedMessage[] {
  const mapped = system === null || system === undefined ? [] : systemMessages(system, 'system', 'system');
  const lastUser = messages.findLastIndex(({ role }) => role === 'user');
  for (const [index, body] of messages.entries()) {
    const path = `messages.${index}`;
    switch (body.role) {
      case 'system':
        // Such a message is for the turn that it follows.
        if (body.clear_at === 'next_user_message' && index < lastUser) break;
        mapped.push(...systemMessages(body.content ?? '', path, `${path}.content`));
        break;
      case 'user':
        mapped.push(...userMessages(body.content, path));
        break;
      case 'assistant':
        mapped.push(assistantMessage(body.content, path));
        break;
    }
  }
  return withoutEmpty(mapped);
}

/** An empty system prompt is none. */
function systemMessages(content: SystemContent, path: string, contentPath: string): MappedMessage[] {
  if (typeof content === 'string') {
    return content === '' ? [] : [{ message: { role: 'system', content }, path, parts: [] }];
  }
  const texts = located(content, contentPath, (block) => (isEmptyText(block) ? undefined : textContent(block)));
  return texts.length === 0
    ? []
    : [{ message: { role: 'system', content: plain(texts) }, path, parts: pathsOf(texts) }];
}

/** Divides the content at the tool results, which neighbour each other in one message. */
function userMessages(content: string | readonly UserBlock[], path: string): MappedMessage[] {
  if (typeof content === 'string') return [{ message: { role: 'user', content }, path, parts: [] }];
  const mapped: MappedMessage[] = [];
  let contents: Located<TextContent | ImageContent>[] = [];
  let results: Located<ToolResult>[] = [];
  const close = (): void => {
    if (contents.length > 0) {
      mapped.push({ message: { role: 'user', content: plain(contents) }, path, parts: pathsOf(contents) });
    } else if (results.length > 0) {
      mapped.push({ message: { role: 'tool', content: partsOf(results) }, path, parts: pathsOf(results) });
    }
    [contents, results] = [[], []];
  };
  for (const [index, block] of content.entries()) {
    const at = `${path}.content.${index}`;
    if (isEmptyText(block)) continue;
    if (block.type === 'tool_result' ? contents.length > 0 : results.length > 0) close();
    if (block.type === 'tool_result') results.push({ part: toolResult(block), path: at });
    else contents.push({ part: block.type === 'image' ? imageContent(block) : textContent(block), path: at });
  }
  close();
  return mapped.length === 0 ? [{ message: { role: 'user', content: [] }, path, parts: [] }] : mapped;
}

function assistantMessage(content: string | readonly AssistantBlock[], path: string): MappedMessage {
  if (typeof content === 'string') return { message: { role: 'assistant', content }, path, parts: [] };
  const parts = withEncrypted(located(content, `${path}.content`, answerContent));
  return { message: { role: 'assistant', content: plain(parts) }, path, parts: pathsOf(parts) };
}

/**
 * Joins a thinking without a signature with the encrypted form that follows it: a response has the two blocks if the provider
 * sends a text and an encrypted form.
 */
function withEncrypted(parts: readonly Located<AssistantContent>[]): Located<AssistantContent>[] {
  const joined: Located<AssistantContent>[] = [];
  for (const located of parts) {
    const last = joined.at(-1);
    const { part } = located;
    if (last !== undefined && isOpenReasoning(last.part) && part.type === 'reasoning' && part.text === '') {
      joined.splice(-1, 1, { ...last, part: { ...last.part, encrypted: part.encrypted } });
    } else {
      joined.push(located);
    }
  }
  return joined;
}

function isOpenReasoning(part: AssistantContent): part is ReasoningContent {
  return part.type === 'reasoning' && part.signature === undefined && part.encrypted === undefined;
}

function located<Block, Part>(
  blocks: readonly Block[],
  path: string,
  map: (block: Block) => Part | undefined,
): Located<Part>[] {
  return blocks.flatMap((block, index) => {
    const part = map(block);
    return part === undefined ? [] : [{ part, path: `${path}.${index}` }];
  });
}

/** Returns a content of one plain text as a string, as the conversation prefers. */
function plain<Part extends { readonly type: string }>(parts: readonly Located<Part | TextContent>[]): string | Part[] {
  const [first, ...others] = partsOf(parts);
  const isPlain = first !== undefined && isText(first) && first.cache === undefined && others.length === 0;
  return isPlain ? first.text : (partsOf(parts) as Part[]);
}

function isText(part: { readonly type: string }): part is TextContent {
  return part.type === 'text';
}
