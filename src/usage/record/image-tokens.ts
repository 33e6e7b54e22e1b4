import type { ImageContent } from '../../upstreams/contract/conversation.js';

/** A JPEG or PNG of this many bytes has about 750 pixels, which large providers count as one token. */
const BYTES_PER_TOKEN = 128;
/** Large providers count at least and at most this many tokens for an image. They scale larger images down. */
const LEAST = 85;
const MOST = 1_600;

/**
 * Estimates the tokens of an image from its bytes, because its pixels are not decoded: one token for 128 bytes, at least 85 and
 * at most 1,600. An image at a URL counts 1,600, and an image with the detail `low` counts 85.
 */
export function estimateImageTokens({ url, detail }: Pick<ImageContent, 'url' | 'detail'>): number {
  if (detail === 'low') return LEAST;
  if (!url.startsWith('data:')) return MOST;
  const base64Length = url.length - url.indexOf(',') - 1;
  return Math.min(MOST, Math.max(LEAST, Math.round((base64Length * 3) / 4 / BYTES_PER_TOKEN)));
}
