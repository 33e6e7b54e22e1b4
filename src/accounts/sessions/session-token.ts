import { createHash, randomBytes } from 'node:crypto';

const TOKEN_BYTES = 32;
const SHAPE = /^[\w-]{43}$/;

/** 256 random bits. The browser alone keeps it; here it is kept as {@link hashSessionToken} only. */
export function generateSessionToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether the text can be a token; spares the database what cannot. */
export function isWellFormedSessionToken(text: string): boolean {
  return SHAPE.test(text);
}

/** SHA-256 in hexadecimal, which is the session's id. No slow hash is needed, as 256 random bits cannot be guessed. */
export function hashSessionToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
