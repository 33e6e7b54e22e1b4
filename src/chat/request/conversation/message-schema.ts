import { z } from 'zod';
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

/** The maximum length of an id of a tool call, in UTF-16 units. Some providers put a name into the id. */
const MAX_CALL_ID_LENGTH = 256;
export const TOOL_NAME = /^[\w-]{1,128}$/;
export const ToolName = z.string().regex(TOOL_NAME, { error: 'must have 1 to 128 letters, digits, _ and -' });

export const Cache = z.strictObject({ ttl: z.enum(['5m', '1h']).optional() });
/** Opaque state of a provider, such as a signature. */
const Opaque = z.string().min(1).optional();
const CallId = z.string().min(1).max(MAX_CALL_ID_LENGTH);

const Text = z.strictObject({ type: z.literal('text'), text: z.string().min(1), cache: Cache.optional() });

const Image = z
  .strictObject({
    type: z.literal('image'),
    url: z.string().min(1),
    mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp']).optional(),
    detail: z.enum(['auto', 'low', 'high']).optional(),
    cache: Cache.optional(),
  })
  .superRefine(({ url, mediaType }, context) => {
    const problem = imageProblem(url, mediaType);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['url'], message: problem });
  });

const Reasoning = z
  .strictObject({ type: z.literal('reasoning'), text: z.string(), signature: Opaque, encrypted: Opaque })
  .refine(({ text, signature, encrypted }) => text !== '' || (signature ?? encrypted) !== undefined, {
    path: ['text'],
    message: 'must not be empty without a signature or an encrypted form',
  });

const ToolCall = z.strictObject({
  type: z.literal('tool_call'),
  id: CallId,
  name: ToolName,
  /** The model may have written arguments that are no JSON. */
  json: z.string(),
  signature: Opaque,
});

const OnlyText = z.discriminatedUnion('type', [Text], { error: 'must be text' });
const TextOrImage = z.discriminatedUnion('type', [Text, Image], { error: 'must be text or image' });
const OfAnswer = z.discriminatedUnion('type', [Text, Reasoning, ToolCall], {
  error: 'must be text, reasoning or tool_call',
});
const TEXT_OR_PARTS = { error: 'must be a string or an array' };

const Result = z.strictObject({
  toolCallId: CallId,
  content: z.union([z.string(), z.array(TextOrImage)], TEXT_OR_PARTS),
  isError: z.boolean().optional(),
  cache: Cache.optional(),
});

function contentOf<Part extends z.ZodType>(part: Part) {
  return z.union([z.string().min(1), z.array(part).min(1)], TEXT_OR_PARTS);
}

/** One message of a conversation. */
export const MessageSchema = z.discriminatedUnion(
  'role',
  [
    z.strictObject({ role: z.literal('system'), content: contentOf(OnlyText) }),
    z.strictObject({ role: z.literal('user'), content: contentOf(TextOrImage) }),
    z.strictObject({ role: z.literal('assistant'), content: contentOf(OfAnswer) }),
    z.strictObject({ role: z.literal('tool'), content: z.array(Result).min(1) }),
  ],
  { error: 'must be system, user, assistant or tool' },
);
