import type { ImageMediaType } from '../../../upstreams/contract/conversation.js';

const DATA_URL = /^data:([^;,]{1,64});base64,/;
const BASE64 = /^[a-z0-9+/]+={0,2}$/i;
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
  const length = url.length - prefix.length;
  return length % 4 === 0 && BASE64.test(url.slice(prefix.length)) ? undefined : 'must contain valid base64';
}

function isHttpsUrl(url: string): boolean {
  return url.length <= MAX_URL_LENGTH && url.startsWith('https://') && URL.canParse(url);
}
