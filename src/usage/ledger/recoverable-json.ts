import { inspect } from 'node:util';

/** In UTF-16 units. A regular record needs far less. */
const MAX_TEXT_LENGTH = 1_000;
const MAX_LENGTH = 100_000;

/** Returns a record of any shape as a text that every database and log accepts. */
export function recoverableJson(record: object): string {
  try {
    return JSON.stringify(record, (_, member: unknown) => shown(member)).slice(0, MAX_LENGTH);
  } catch {
    // A member is circular, or its getter throws.
    return inspect(record, { maxStringLength: MAX_TEXT_LENGTH }).slice(0, MAX_LENGTH);
  }
}

/** Returns values that JSON does not support as a text. */
function shown(member: unknown): unknown {
  switch (typeof member) {
    case 'bigint':
      return String(member);
    case 'number':
      return Number.isFinite(member) ? member : String(member);
    case 'string':
      return member.length > MAX_TEXT_LENGTH ? `${member.slice(0, MAX_TEXT_LENGTH)}…` : member;
    default:
      return member;
  }
}
