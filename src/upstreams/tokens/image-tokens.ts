import type { ImageContent } from '../contract/conversation.js';

/** A JPEG or PNG of this many bytes has about 750 pixels, which large providers count as one token. */
const BYTES_PER_TOKEN = 128;
/** Large providers count at least and usually at most this many tokens for an image. They scale larger images down. */
const LEAST = 85;
const MOST = 1_600;

/**
 * Providers scale images down before they count them, so an image has a highest count at each of them. The highest ones that were
 * found (2026-11-26): 4,784 for Claude, which knows no detail, and 14,364 for models of OpenAI that keep the size without a detail.
 */
const BOUND_OF_DETAIL = 5_000;
const BOUND = 15_000;

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

/** Returns the most tokens that a large provider counts for an image. Its bytes say nothing: a flat picture of any size is small. */
export function maxImageTokens({ detail }: Pick<ImageContent, 'detail'>): number {
  return detail === 'low' || detail === 'high' ? BOUND_OF_DETAIL : BOUND;
}
