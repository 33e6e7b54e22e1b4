import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

/** Generates 256 random bits. Only the browser or the link has the token. The database stores its hash, see {@link hashToken}. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether the text has the form of a token. Other texts need no database query. */
export function isWellFormedToken(text: string): boolean {
  return SHAPE.test(text);
}

/** SHA-256 in hexadecimal. No slow hash is needed, because 256 random bits cannot be guessed. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
