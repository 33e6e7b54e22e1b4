import type { ImageContent, Message, ToolMessage } from '../../contract/conversation.js';
import { imagesOf } from '../../contract/message-texts.js';
import { joinedTexts } from '../shared/plain-messages.js';

/**
 * Returns the answer to results of tools, or to images of the user, if the last message has any. The answer contains each result,
 * and the type and the size of each image.
 */
export function describedContents(messages: readonly Message[]): string | undefined {
  const last = messages.at(-1);
  if (last?.role === 'tool') return describedResults(last, messages);
  if (last?.role !== 'user') return undefined;
  const images = [...imagesOf(last)];
  return images.length === 0 ? undefined : images.map(describedImage).join(' ');
}

function describedResults({ content: results }: ToolMessage, messages: readonly Message[]): string {
  const names = new Map<string, string>();
  for (const message of messages) {
    if (message.role !== 'assistant' || typeof message.content === 'string') continue;
    for (const part of message.content) if (part.type === 'tool_call') names.set(part.id, part.name);
  }
  return results
    .map(({ toolCallId, content, isError }) => {
      const images = typeof content === 'string' ? [] : content.filter((part) => part.type === 'image');
      const what = isError === true ? 'failed with' : 'returned';
      const text = `The tool ${names.get(toolCallId) ?? toolCallId} ${what}: ${joinedTexts(content)}`;
      return [text, ...images.map(describedImage)].join('\n');
    })
    .join('\n');
}

function describedImage({ url, mediaType }: ImageContent): string {
  const data = /^data:([^;,]{1,64});base64,/.exec(url);
  if (data === null) return `I got an image of the type ${mediaType ?? 'unknown'} at a URL, which I do not fetch.`;
  const [prefix, type = ''] = data;
  const padding = url.endsWith('==') ? 2 : url.endsWith('=') ? 1 : 0;
  const bytes = ((url.length - prefix.length) * 3) / 4 - padding;
  return `I got an image of the type ${type} with ${bytes} bytes.`;
}
