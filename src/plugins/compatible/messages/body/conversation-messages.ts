import { jsonSource } from '../../../../plugin-api/core/common.js';
import type {
  AssistantMessage,
  CacheHint,
  ImageContent,
  ReasoningContent,
  TextContent,
  Tool,
  ToolResult,
} from '../../../../plugin-api/core/upstreams.js';
import { partsOf, pathsOf, withoutEmpty, type Located, type MappedMessage } from '../../shared/error-formats.js';
import type {
  AssistantBlock,
  CacheControl,
  ImageBlock,
  TextBlock,
  ToolReferenceBlock,
  ToolResultBlock,
  MessageBody,
  SystemContent,
  UserBlock,
  ToolBody,
} from './messages-body.js';

type AnswerContent = Exclude<AssistantMessage['content'], string>[number];

function cacheOf(control: CacheControl): { readonly cache?: CacheHint } {
  return control ? { cache: control.ttl ? { ttl: control.ttl } : {} } : {};
}

function textContent({ text, cache_control }: TextBlock): TextContent {
  return { type: 'text', text, ...cacheOf(cache_control) };
}

function imageContent({ source, cache_control }: ImageBlock): ImageContent {
  const cache = cacheOf(cache_control);
  if (source.type === 'url') return { type: 'image', url: source.url, ...cache };
  const { media_type: mediaType, data } = source;
  return { type: 'image', url: `data:${mediaType};base64,${data}`, mediaType, ...cache };
}

function toolResult({ tool_use_id, content, is_error, cache_control }: ToolResultBlock): ToolResult {
  return {
    toolCallId: tool_use_id,
    content: typeof content === 'string' ? content : contentsOf(content ?? []),
    ...(is_error === true && { isError: true }),
    ...cacheOf(cache_control),
  };
}

/** Returns the contents of blocks. A text block without text is left out. */
function contentsOf(blocks: readonly (TextBlock | ImageBlock | ToolReferenceBlock)[]): (TextContent | ImageContent)[] {
  return blocks.filter((block) => !isEmptyText(block)).map((block) => contentOf(block));
}

function contentOf(block: TextBlock | ImageBlock | ToolReferenceBlock): TextContent | ImageContent {
  switch (block.type) {
    case 'text':
      return textContent(block);
    case 'image':
      return imageContent(block);
    case 'tool_reference':
      return { type: 'text', text: `The tool ${block.tool_name} is available now.`, ...cacheOf(block.cache_control) };
  }
}

function isEmptyText(block: { readonly type: string; readonly text?: string }): boolean {
  return block.type === 'text' && block.text === '';
}

/** Returns the content of a block of an earlier answer, or `undefined` for an empty block. */
function answerContent(block: AssistantBlock): AnswerContent | undefined {
  switch (block.type) {
    case 'text':
      return isEmptyText(block) ? undefined : textContent(block);
    case 'thinking':
      return reasoningContent(block.thinking, block.signature ?? '');
    case 'redacted_thinking':
      return block.data === '' ? undefined : { type: 'reasoning', text: '', encrypted: block.data };
    case 'tool_use': {
      const { id, name, input, signature } = block;
      return { type: 'tool_call', id, name, json: jsonSource(input), ...(signature && { signature }) };
    }
  }
}

function reasoningContent(text: string, signature: string): ReasoningContent | undefined {
  if (text === '' && signature === '') return undefined;
  return { type: 'reasoning', text, ...(signature !== '' && { signature }) };
}

export function toolOf({ name, description, input_schema, strict, cache_control }: ToolBody): Tool {
  return {
    name,
    parameters: input_schema,
    ...(description && { description }),
    ...(typeof strict === 'boolean' && { strict }),
    ...cacheOf(cache_control),
  };
}

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
