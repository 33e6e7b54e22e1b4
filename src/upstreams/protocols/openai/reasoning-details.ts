import { isJsonObject, isText } from '../shared/json-object.js';

/** The members of a detail that arrive in pieces. */
const TEXTS: ReadonlySet<string> = new Set(['text', 'summary', 'data']);
/** The maximum length of all details, in UTF-16 units. Longer ones are not kept. */
const MAX_LENGTH = 512 * 1024;

/**
 * Collects `reasoning_details` of OpenRouter. They arrive in pieces: neighbouring pieces with one type, index and id are one detail. The next
 * turn sends them back in the same order.
 */
export class ReasoningDetails {
  private details: Record<string, unknown>[] = [];
  private length = 0;

  get isEmpty(): boolean {
    return this.details.length === 0;
  }

  add(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      if (!isJsonObject(piece)) continue;
      this.length += JSON.stringify(piece).length;
      const last = this.details.at(-1);
      if (this.length > MAX_LENGTH) return;
      if (last !== undefined && isSame(last, piece)) join(last, piece);
      else this.details.push({ ...piece });
    }
  }

  /** Returns the details as JSON, and forgets them. `undefined`: there are none, or too many to keep. */
  take(): string | undefined {
    const { details, length } = this;
    this.details = [];
    this.length = 0;
    return details.length === 0 || length > MAX_LENGTH ? undefined : JSON.stringify(details);
  }
}

type Detail = Readonly<Record<string, unknown>>;

/** A detail without an id has the id of its neighbour. */
function isSame(one: Detail, other: Detail): boolean {
  return one.type === other.type && one.index === other.index && (one.id ?? other.id) === (other.id ?? one.id);
}

function join(detail: Record<string, unknown>, piece: Detail): void {
  for (const [name, value] of Object.entries(piece)) {
    const before = detail[name];
    if (TEXTS.has(name) && isText(before) && typeof value === 'string') detail[name] = before + value;
    else if (value !== null) detail[name] = value;
  }
}
