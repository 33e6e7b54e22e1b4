import type { ImageMediaType } from '../../../upstreams/contract/conversation.js';

const DATA_URL = /^data:([^;,]{1,64});base64,/;
const MEDIA_TYPES: ReadonlySet<string> = new Set<ImageMediaType>([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);
const MAX_URL_LENGTH = 8_192;

/**
 * Returns what is wrong with the URL of an image, as the end of a sentence. Returns `undefined` for a valid URL.
 *
 * @param mediaType the stated type. That of a data URL must be the same.
 */
export function imageProblem(url: string, mediaType: ImageMediaType | undefined): string | undefined {
  if (!url.startsWith('data:')) return isHttpsUrl(url) ? undefined : 'must be a data URL or an https URL';
  const [prefix, type] = DATA_URL.exec(url) ?? [];
  if (prefix === undefined) return 'must be a data URL of the form data:<media type>;base64,<data>';
  if (type === undefined || !MEDIA_TYPES.has(type)) return `must have one of the types ${[...MEDIA_TYPES].join(', ')}`;
  if (mediaType !== undefined && mediaType !== type) return 'must have the type that mediaType states';
  return isBase64(url.slice(prefix.length)) ? undefined : 'must contain valid base64';
}

/** Decodes the text, because a pattern takes ten times as long. Node skips invalid characters, and reads `-` and `_`, too. */
function isBase64(text: string): boolean {
  if (text.length === 0 || text.length % 4 !== 0 || text.includes('-') || text.includes('_')) return false;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return Buffer.from(text, 'base64').length === (text.length / 4) * 3 - padding;
}

function isHttpsUrl(url: string): boolean {
  return url.length <= MAX_URL_LENGTH && url.startsWith('https://') && URL.canParse(url);
}
