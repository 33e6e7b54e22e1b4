import { createHash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

/**
 * The prefix of an API key. A key consists of `csk_`, 256 random bits and a checksum. With the checksum, secret scanners
 * and this service recognize a text that is not a key without a database query.
 */
const MARK = 'csk_';
const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
const SHOWN_CHARACTERS = 12;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const SHAPE = new RegExp(`^${MARK}[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`);

/** Generates a new key. The owner sees the key once. The database stores only its hash, see {@link hashApiKey}. */
export function generateApiKey(): string {
  const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
  const body = MARK + base62(secret, SECRET_CHARACTERS);
  return body + checksum(body);
}

/** Whether the text has the form of a key of this service. The key may still be unknown. */
export function isWellFormedApiKey(text: string): boolean {
  if (!SHAPE.test(text)) return false;
  const body = text.slice(0, -CHECKSUM_CHARACTERS);
  return text.endsWith(checksum(body));
}

/** SHA-256 in hexadecimal. No slow hash is needed, because 256 random bits cannot be guessed. */
export function hashApiKey(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

/** The part of the key that may be shown again, so that the owner can tell keys apart. */
export function prefixOf(key: string): string {
  return key.slice(0, SHOWN_CHARACTERS);
}

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), CHECKSUM_CHARACTERS);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, '0');
}
