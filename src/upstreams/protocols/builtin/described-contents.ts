import type { ImageContent, Message, ToolMessage } from '../../contract/conversation.js';
import { imagesOf } from '../../contract/message-texts.js';
import { CalledNames } from '../shared/called-names.js';
import { inlineImage } from '../shared/data-url.js';
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
  const names = new CalledNames();
  for (const message of messages) names.add(message);
  return results
    .map((result) => {
      const { content, isError } = result;
      const images = typeof content === 'string' ? [] : content.filter((part) => part.type === 'image');
      const what = isError === true ? 'failed with' : 'returned';
      const text = `The tool ${names.of(result)} ${what}: ${joinedTexts(content)}`;
      return [text, ...images.map(describedImage)].join('\n');
    })
    .join('\n');
}

function describedImage({ url, mediaType }: ImageContent): string {
  const inline = inlineImage({ url });
  if (inline === undefined)
    return `I got an image of the type ${mediaType ?? 'unknown'} at a URL, which I do not fetch.`;
  const bytes = Buffer.byteLength(inline.base64, 'base64');
  return `I got an image of the type ${inline.mediaType} with ${bytes} bytes.`;
}
