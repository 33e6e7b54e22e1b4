import type { ImageContent } from '../../contract/conversation.js';
import { InvalidMember } from './option-members.js';

/** The bytes of an image in a request. */
interface InlineImage {
  readonly mediaType: string;
  readonly base64: string;
}

const DATA_URL = /^data:([\w.+/-]+);base64,/;

/** Returns the bytes of an image with a data URL. Returns `undefined` for an image with another URL. */
export function inlineImage({ url }: Pick<ImageContent, 'url'>): InlineImage | undefined {
  const [head, mediaType] = DATA_URL.exec(url.slice(0, 100)) ?? [];
  return head === undefined || mediaType === undefined ? undefined : { mediaType, base64: url.slice(head.length) };
}

/** As {@link inlineImage}, for a provider that takes only bytes. @throws {ServiceError} `invalid_request` for another URL. */
export function requiredInlineImage(image: ImageContent): InlineImage {
  const inline = inlineImage(image);
  if (inline !== undefined) return inline;
  throw new InvalidMember(
    'messages',
    'must have each image as a data URL: the provider of this model does not fetch images',
  );
}
