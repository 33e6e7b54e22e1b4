import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';

const SECRET_BYTES = 32;
const SECRET_CHARACTERS = 43;
const CHECKSUM_CHARACTERS = 6;
/** How many characters of the secret may be shown again. */
const SHOWN_CHARACTERS = 8;

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/**
 * A kind of keys. A key consists of the mark of its kind, 256 random bits and a checksum. With the checksum, secret scanners and
 * this service recognize a text that is not a key without a database query.
 */
export class KeyFormat {
  private readonly shape: RegExp;

  /** @param mark the first characters of each key: lower-case letters and `_`, with a `_` at the end. */
  constructor(readonly mark: string) {
    this.shape = new RegExp(`^${mark}[0-9A-Za-z]{${SECRET_CHARACTERS + CHECKSUM_CHARACTERS}}$`);
  }

  /** Generates a new key. The owner sees the key once. The database stores only its hash, see {@link hashSecret}. */
  generate(): string {
    const secret = BigInt(`0x${randomBytes(SECRET_BYTES).toString('hex')}`);
    const body = this.mark + base62(secret, SECRET_CHARACTERS);
    return body + checksum(body);
  }

  /** Whether the text has the form of such a key. The key may still be unknown. */
  isWellFormed(text: string): boolean {
    if (!this.shape.test(text)) return false;
    return text.endsWith(checksum(text.slice(0, -CHECKSUM_CHARACTERS)));
  }

  /** The part of the key that may be shown again, so that the owner can tell keys apart. */
  prefixOf(key: string): string {
    return key.slice(0, this.mark.length + SHOWN_CHARACTERS);
  }
}

/** The format of the API keys of accounts. */
export const API_KEY_FORMAT = new KeyFormat('csk_');

/** SHA-256 of a key or a token, in hexadecimal. No slow hash is needed, because 256 random bits cannot be guessed. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

function checksum(body: string): string {
  let text = '';
  for (let rest = crc32(body); rest > 0; rest = Math.floor(rest / DIGITS.length)) {
    text = DIGITS.charAt(rest % DIGITS.length) + text;
  }
  return text.padStart(CHECKSUM_CHARACTERS, '0');
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; rest > 0n; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text.padStart(length, '0');
}

const TOKEN_BYTES = 32;
const TOKEN = /^[\w-]{43}$/;

/** Generates 256 random bits. Only the browser or the link has the token. The database stores its hash, see {@link hashSecret}. */
export function generateToken(): string {
  return randomBytes(TOKEN_BYTES).toString('base64url');
}

/** Whether the text has the form of a token. Other texts need no database query. */
export function isWellFormedToken(text: string): boolean {
  return TOKEN.test(text);
}
