import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

/** Generates 256 random bits. Only the browser keeps the token. The database stores its hash, see {@link hashSessionToken}. */
export function generateSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether the text has the form of a token. Other texts need no database query. */
export function isWellFormedSessionToken(text: string): boolean {
  return SHAPE.test(text);
}

/** SHA-256 in hexadecimal: the id of the session. No slow hash is needed, because 256 random bits cannot be guessed. */
export function hashSessionToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
