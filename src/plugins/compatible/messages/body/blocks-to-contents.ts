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
import type {
  AssistantBlock,
  CacheControl,
  ImageBlock,
  TextBlock,
  ToolReferenceBlock,
  ToolResultBlock,
} from './content-blocks.js';
import type { ToolBody } from './messages-body.js';

type AnswerContent = Exclude<AssistantMessage['content'], string>[number];

function cacheOf(control: CacheControl): { readonly cache?: CacheHint } {
  return control ? { cache: control.ttl ? { ttl: control.ttl } : {} } : {};
}

export function textContent({ text, cache_control }: TextBlock): TextContent {
  return { type: 'text', text, ...cacheOf(cache_control) };
}

export function imageContent({ source, cache_control }: ImageBlock): ImageContent {
  const cache = cacheOf(cache_control);
  if (source.type === 'url') return { type: 'image', url: source.url, ...cache };
  const { media_type: mediaType, data } = source;
  return { type: 'image', url: `data:${mediaType};base64,${data}`, mediaType, ...cache };
}

export function toolResult({ tool_use_id, content, is_error, cache_control }: ToolResultBlock): ToolResult {
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

export function isEmptyText(block: { readonly type: string; readonly text?: string }): boolean {
  return block.type === 'text' && block.text === '';
}

/** Returns the content of a block of an earlier answer, or `undefined` for an empty block. */
export function answerContent(block: AssistantBlock): AnswerContent | undefined {
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
