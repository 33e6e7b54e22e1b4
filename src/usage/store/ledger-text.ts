import { createHash } from 'node:crypto';

/**
 * In UTF-16 units. Three texts of this length fit into one index row of PostgreSQL, which is limited to about 2,700 bytes.
 */
const MAX_LENGTH = 255;
const KEPT_LENGTH = 200;
/** Control characters, because PostgreSQL refuses NUL, and unpaired halves of surrogate pairs. */
const ODD_CHARACTER = /[\p{Cc}\p{Cs}]/u;
const ODD_CHARACTERS = /[\p{Cc}\p{Cs}]/gu;

/**
 * Returns the text as the ledger stores it: of limited length, and without characters that a database refuses. A text that
 * is too long ends with a hash of the whole text, so that two different ids stay different.
 *
 * @throws {UnstorableData} for other values than texts, because a module of a team may be written without types.
 */
export function ledgerText(text: string): string {
  if (typeof text !== 'string') throw new UnstorableData('A member of the record is not a text.');
  if (text.length <= MAX_LENGTH) return withoutOddCharacters(text);
  const hash = createHash('sha256').update(text).digest('base64url');
  return `${withoutOddCharacters(text.slice(0, KEPT_LENGTH))}~${hash}`;
}

function withoutOddCharacters(text: string): string {
  return ODD_CHARACTER.test(text) ? text.replace(ODD_CHARACTERS, '\ufffd') : text;
}

/**
 * Data that can never be stored. The ledger keeps the invalid record as a dead letter. Every other error of the store counts as an
 * outage: the ledger waits and retries.
 */
export class UnstorableData extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnstorableData';
  }
}
