export interface JsonLimits {
  /** Members and items of the whole text, at all levels together. */
  readonly values: number;
  /** Objects and arrays within each other. */
  readonly depth: number;
  /** The length of a member's name, as it is written. */
  readonly nameBytes: number;
}

/** One step on the way to a value: an index of an array, or where in the text the name of a member stands, without quotes. */
export type JsonStep = number | { readonly start: number; readonly end: number };

/** A limit that is exceeded, and where. */
export interface JsonExcess {
  readonly limit: keyof JsonLimits;
  /** The way to the value that is too large; [] for the whole text. */
  readonly path: readonly JsonStep[];
}

/** An object or array that is open. */
interface Level {
  isArray: boolean;
  /** Items or members so far. */
  size: number;
  /** The next string is the name of a member. */
  expectsName: boolean;
  nameStart: number;
  nameEnd: number;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;
/** The highest byte of white space. What else is not above it, a parser refuses. */
const SPACE = 0x20;
/** So many bytes of a string without a backslash are looked at one by one, before the next byte of interest is searched for. */
const RUN_BYTES = 64;

/**
 * Measures JSON piece by piece, before a parser sees it, in one pass that stops at the first excess. It does not check that
 * the text is JSON: a parser stops at the first error, and what lies before the error is measured as the parser reads it.
 */
export class JsonScanner {
  /** Those below `depth` are open, the others are kept for reuse. */
  private readonly levels: Level[] = [];
  private depth = 0;
  private values = 0;
  /** Where the current piece begins in the text. */
  private offset = 0;
  private inString = false;
  /** The current string is the name of a member. */
  private isName = false;
  private isNameTooLong = false;
  /** The last byte was a backslash that is not escaped itself. */
  private isEscaped = false;
  /** Where the last search in this piece found a quote and a backslash. */
  private quoteAt = -1;
  private backslashAt = -1;
  /** In a number, `true`, `false` or `null`. */
  private inWord = false;

  constructor(private readonly limits: JsonLimits) {}

  /** @returns the first excess in this piece. Not to be called again after an excess. */
  scan(piece: Uint8Array): JsonExcess | undefined {
    this.quoteAt = this.backslashAt = -1;
    let at = this.inString ? this.skipString(piece, 0) : 0;
    while (at < piece.length && !this.isNameTooLong) {
      const byte = piece[at] ?? 0;
      at += 1;
      if (byte <= SPACE) this.inWord = false;
      else if (byte === QUOTE) {
        const excess = this.beginString(at);
        if (excess !== undefined) return excess;
        at = this.skipString(piece, at);
      } else {
        const excess = this.structure(byte);
        if (excess !== undefined) return excess;
      }
    }
    if (this.isNameTooLong) return { limit: 'nameBytes', path: this.path(this.depth) };
    this.offset += piece.length;
    return undefined;
  }

  private beginString(start: number): JsonExcess | undefined {
    const level = this.levels[this.depth - 1];
    this.inString = true;
    this.isEscaped = false;
    this.inWord = false;
    this.isName = level?.expectsName === true;
    if (level === undefined || !this.isName) return this.addValue();
    level.nameStart = level.nameEnd = this.offset + start;
    return undefined;
  }

  /** @returns where to read on behind the string, or the end of the piece. */
  private skipString(piece: Uint8Array, from: number): number {
    let at = from;
    while (this.inString && at < piece.length) at = this.skipRun(piece, at);
    const level = this.levels[this.depth - 1];
    if (level === undefined || !this.isName) return at;
    level.nameEnd = this.offset + (this.inString ? at : at - 1);
    this.isNameTooLong = level.nameEnd - level.nameStart > this.limits.nameBytes;
    return at;
  }

  /** Reads some bytes of a string one by one, and jumps to the next byte of interest where there was no backslash in them. */
  private skipRun(piece: Uint8Array, from: number): number {
    const end = Math.min(from + RUN_BYTES, piece.length);
    let { isEscaped } = this;
    let hasBackslash = isEscaped;
    for (let at = from; at < end; at++) {
      const byte = piece[at];
      if (isEscaped) isEscaped = false;
      else if (byte === BACKSLASH) isEscaped = hasBackslash = true;
      else if (byte === QUOTE) {
        this.inString = false;
        return at + 1;
      }
    }
    this.isEscaped = isEscaped;
    if (hasBackslash) return end;
    // Searched for again only behind the last find, so that no part of the piece is searched twice.
    if (this.quoteAt < end) this.quoteAt = indexOf(piece, QUOTE, end);
    if (this.backslashAt < end) this.backslashAt = indexOf(piece, BACKSLASH, end);
    return Math.min(this.quoteAt, this.backslashAt);
  }

  /** A byte outside of a string that is no white space. */
  private structure(byte: number): JsonExcess | undefined {
    const wasInWord = this.inWord;
    this.inWord = false;
    switch (byte) {
      case OPENING_BRACE:
      case OPENING_BRACKET:
        return this.addValue() ?? this.open(byte === OPENING_BRACKET);
      case CLOSING_BRACE:
      case CLOSING_BRACKET:
        if (this.depth > 0) this.depth -= 1;
        return undefined;
      case COMMA:
        this.expectName(true);
        return undefined;
      case COLON:
        this.expectName(false);
        return undefined;
      default:
        this.inWord = true;
        return wasInWord ? undefined : this.addValue();
    }
  }

  private expectName(expects: boolean): void {
    const level = this.levels[this.depth - 1];
    if (level !== undefined) level.expectsName = expects && !level.isArray;
  }

  private addValue(): JsonExcess | undefined {
    const level = this.levels[this.depth - 1];
    if (level !== undefined) level.size += 1;
    this.values += 1;
    return this.values > this.limits.values ? { limit: 'values', path: this.pathToWidest() } : undefined;
  }

  private open(isArray: boolean): JsonExcess | undefined {
    if (this.depth === this.limits.depth) return { limit: 'depth', path: this.path(this.depth) };
    const level = (this.levels[this.depth] ??= { isArray, size: 0, expectsName: false, nameStart: 0, nameEnd: 0 });
    level.isArray = isArray;
    level.size = 0;
    level.expectsName = !isArray;
    this.depth += 1;
    return undefined;
  }

  /** The open object or array with the most members or items: the one that is too large, rather than the last one in it. */
  private pathToWidest(): JsonStep[] {
    const sizes = this.levels.slice(0, this.depth).map(({ size }) => size);
    return this.path(Math.max(0, sizes.indexOf(Math.max(...sizes))));
  }

  private path(depth: number): JsonStep[] {
    return this.levels
      .slice(0, depth)
      .map(({ isArray, size, nameStart, nameEnd }) => (isArray ? size - 1 : { start: nameStart, end: nameEnd }));
  }
}

function indexOf(piece: Uint8Array, byte: number, from: number): number {
  const index = piece.indexOf(byte, from);
  return index === -1 ? piece.length : index;
}
