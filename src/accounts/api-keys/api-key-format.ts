import { hashKey, KeyFormat } from '../credentials/key-format.js';

/** The prefix of an API key. */
export const KEY_MARK = 'csk_';
const FORMAT = new KeyFormat(KEY_MARK);

/** Generates a new key. The owner sees the key once. The database stores only its hash, see {@link hashApiKey}. */
export function generateApiKey(): string {
  return FORMAT.generate();
}

/** Whether the text has the form of a key of this service. The key may still be unknown. */
export function isWellFormedApiKey(text: string): boolean {
  return FORMAT.isWellFormed(text);
}

/** The hash by which the database finds the key. */
export const hashApiKey = hashKey;

/** The part of the key that may be shown again, so that the owner can tell keys apart. */
export function prefixOf(key: string): string {
  return FORMAT.prefixOf(key);
}
