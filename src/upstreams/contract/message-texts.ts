import type { ImageContent, Message, TextContent } from './conversation.js';

type Content = string | readonly (TextContent | ImageContent)[];

/** Yields the texts of a message that a provider reads, in order: also reasoning, the arguments of tool calls, and results. */
export function* textsOf(message: Message): Generator<string, void> {
  if (typeof message.content === 'string') {
    yield message.content;
    return;
  }
  for (const part of message.content) {
    if ('toolCallId' in part) yield* textsOfContent(part.content);
    else if (part.type === 'tool_call') yield part.json;
    else if (part.type !== 'image') yield part.text;
  }
}

function* textsOfContent(content: Content): Generator<string, void> {
  if (typeof content === 'string') yield content;
  else for (const part of content) if (part.type === 'text') yield part.text;
}

/** Yields the images of a message, in order: those of the user, and those of results. */
export function* imagesOf({ content }: Message): Generator<ImageContent, void> {
  if (typeof content === 'string') return;
  for (const part of content) {
    if ('toolCallId' in part) yield* imagesOfContent(part.content);
    else if (part.type === 'image') yield part;
  }
}

function* imagesOfContent(content: Content): Generator<ImageContent, void> {
  if (typeof content !== 'string') for (const part of content) if (part.type === 'image') yield part;
}
