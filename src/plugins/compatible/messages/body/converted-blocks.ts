import { isObject } from '../../../../plugin-api/core/common.js';

type Json = Readonly<Record<string, unknown>>;

/** A block without text has no effect, and keeps the positions of the blocks after it. */
const EMPTY = { type: 'text', text: '' };

/** The blocks of the user that may be converted. */
const OF_USER: ReadonlySet<unknown> = new Set(['document', 'search_result', 'tool_result']);

/** What an answer of Anthropic has of tools that Anthropic has run, and of changes of its model. The text after it has the results. */
const OF_PROVIDER = /^(?:server_tool_use|mcp_tool_use|mcp_tool_listing|fallback|\w+_tool_result)$/;

/**
 * Converts the blocks of the messages that the conversation has in another form:
 *
 * - Documents of texts and search results become texts.
 * - The records of tools that Anthropic has run are left out. The summary of a compaction becomes a text.
 * - The tools that system messages add and remove are those of `tools`, as they are at the end of the conversation.
 *
 * Written for `@anthropic-ai/sdk` 1.14.0 and Claude Code 2.1.332, looked up on 2026-11-27.
 *
 * @param ignore names each record that is left out.
 */
export function withConvertedBlocks(body: Json, ignore: (member: string) => void): Json {
  const { messages } = body;
  if (!Array.isArray(messages)) return body;
  const tools = new ChangedTools(body['tools']);
  const converted = (messages as unknown[]).map((message) => {
    if (!isObject(message) || !Array.isArray(message['content'])) return message;
    const content: readonly unknown[] = message['content'];
    switch (message['role']) {
      case 'user':
        if (!content.some((block) => isObject(block) && OF_USER.has(block['type']))) return message;
        return withContent(message, content.flatMap(userBlocks));
      case 'assistant':
        return withContent(
          message,
          content.map((block) => answerBlock(block, ignore)),
        );
      case 'system':
        return withContent(
          message,
          content.map((block) => (tools.change(block) ? EMPTY : block)),
        );
      default:
        return message;
    }
  });
  const isChanged = converted.some((message, index) => message !== messages[index]);
  return isChanged ? { ...body, messages: converted, ...tools.member } : body;
}

/** The tools of a request, with the changes in its system messages. */
class ChangedTools {
  private readonly tools: unknown[];
  private isChanged = false;

  constructor(sent: unknown) {
    this.tools = Array.isArray(sent) ? [...(sent as unknown[])] : [];
  }

  /** The member `tools`, if it has changed. */
  get member(): Json {
    return this.isChanged ? { tools: this.tools } : {};
  }

  /** Returns whether the block is a change. A tool of an MCP server is not: the service connects to none. */
  change(block: unknown): boolean {
    const tool = isObject(block) && isObject(block['tool']) ? block['tool'] : undefined;
    if (!isObject(block) || tool === undefined) return false;
    const { type, name, definition } = tool;
    if (block['type'] === 'tool_addition' && type === 'tool_definition' && isObject(definition)) {
      this.remove(definition['name']);
      this.tools.push(definition);
    } else if (block['type'] === 'tool_addition' && type === 'tool_reference') {
      const at = this.tools.findIndex((known) => isObject(known) && known['name'] === name);
      if (at !== -1) this.tools[at] = { ...(this.tools[at] as Json), defer_loading: false };
    } else if (block['type'] === 'tool_removal' && type === 'tool_reference') this.remove(name);
    else return false;
    this.isChanged = true;
    return true;
  }

  private remove(name: unknown): void {
    const at = this.tools.findIndex((known) => isObject(known) && known['name'] === name);
    if (at !== -1) this.tools.splice(at, 1);
  }
}

/** Returns the same message if its content has not changed. */
function withContent(message: Json, content: readonly unknown[]): Json {
  const before = message['content'] as readonly unknown[];
  const isSame = content.length === before.length && content.every((block, index) => block === before[index]);
  return isSame ? message : { ...message, content };
}

function userBlocks(block: unknown): readonly unknown[] {
  if (!isObject(block)) return [block];
  const { type, content, cache_control: cache } = block;
  if (type === 'tool_result' && Array.isArray(content)) {
    return [withContent(block, (content as unknown[]).flatMap(textBlocks))];
  }
  const blocks = textBlocks(block);
  // The mark for the cache stands at the end of the document.
  return blocks[0] === block || !cache
    ? blocks
    : blocks.map((part, at) => (at === blocks.length - 1 && isObject(part) ? { ...part, cache_control: cache } : part));
}

/** Returns the texts of a document or of a search result. Other blocks, and documents of other types, stay as they are. */
function textBlocks(block: unknown): readonly unknown[] {
  if (!isObject(block)) return [block];
  const { type, title, context, source, content } = block;
  if (type === 'search_result' && Array.isArray(content)) return [textOf(title, source), ...(content as unknown[])];
  if (type !== 'document' || !isObject(source)) return [block];
  const heading = textOf(title, context);
  if (source['type'] === 'text' && typeof source['data'] === 'string') {
    return [{ type: 'text', text: heading.text + source['data'] }];
  }
  if (source['type'] !== 'content') return [block];
  const parts = source['content'];
  return typeof parts === 'string' ? [{ type: 'text', text: heading.text + parts }] : [heading, ...listOf(parts)];
}

/** Returns the lines above a text: its title, and where it is from. */
function textOf(...lines: readonly unknown[]): { readonly type: 'text'; readonly text: string } {
  const texts = lines.filter((line) => typeof line === 'string' && line !== '');
  return { type: 'text', text: texts.map((line) => `${String(line)}\n`).join('') };
}

function answerBlock(block: unknown, ignore: (member: string) => void): unknown {
  if (!isObject(block) || typeof block['type'] !== 'string') return block;
  const { type, content } = block;
  if (type === 'compaction') return typeof content === 'string' ? { type: 'text', text: content } : EMPTY;
  if (!OF_PROVIDER.test(type)) return block;
  ignore(`messages.content.${type}`);
  return EMPTY;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as readonly unknown[]) : [value];
}
