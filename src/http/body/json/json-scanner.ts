export interface JsonLimits {
  /** The maximum number of members and items in the whole text, at all levels together. */
  readonly values: number;
  /** The maximum number of nested objects and arrays. */
  readonly depth: number;
  /** The maximum length of a member name, in bytes as written in the text. */
  readonly nameBytes: number;
}

/** One step of the path to a value: an index of an array, or the position of a member name in the text, without quotes. */
export type JsonStep = number | { readonly start: number; readonly end: number };

/** The limit that the text exceeds, and the place. */
export interface JsonExcess {
  readonly limit: keyof JsonLimits;
  /** The path to the value that is too large. The path is [] for the whole text. */
  readonly path: readonly JsonStep[];
}

/** An object or array that has begun and not ended yet. */
interface Level {
  isArray: boolean;
  /** The number of items or members so far. */
  size: number;
  /** Whether the next string is the name of a member. */
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
/** The highest byte of white space. A parser refuses the other bytes up to this value. */
const SPACE = 0x20;
/**
 * The number of bytes of a string without a backslash that are read one by one. After them, the scanner searches for the
 * next quote or backslash.
 */
const RUN_BYTES = 64;

/**
 * Measures JSON piece by piece, before a parser reads the JSON. The scanner needs one pass and stops at the first exceeded
 * limit.
 *
 * The scanner does not check that the text is valid JSON. A parser stops at the first error, and the scanner measures the
 * text before that error in the same way as the parser reads it.
 */
export class JsonScanner {
  /** The levels below `depth` are open. The others are kept for reuse. */
  private readonly levels: Level[] = [];
  private depth = 0;
  private values = 0;
  /** The position of the current piece in the text. */
  private offset = 0;
  private inString = false;
  /** Whether the current string is the name of a member. */
  private isName = false;
  private isNameTooLong = false;
  /** Whether the last byte was a backslash that is not escaped itself. */
  private isEscaped = false;
  /** The positions in this piece where the last search found a quote and a backslash. */
  private quoteAt = -1;
  private backslashAt = -1;
  /** Whether the scanner is inside a number, `true`, `false` or `null`. */
  private inWord = false;

  constructor(private readonly limits: JsonLimits) {}

  /**
   * Scans the next piece. Must not be called again after it has returned an excess.
   *
   * @returns the first excess in this piece.
   */
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

  /**
   * Skips the bytes of a string.
   *
   * @returns the position after the string, or the end of the piece.
   */
  private skipString(piece: Uint8Array, from: number): number {
    let at = from;
    while (this.inString && at < piece.length) at = this.skipRun(piece, at);
    const level = this.levels[this.depth - 1];
    if (level === undefined || !this.isName) return at;
    level.nameEnd = this.offset + (this.inString ? at : at - 1);
    this.isNameTooLong = level.nameEnd - level.nameStart > this.limits.nameBytes;
    return at;
  }

  /** Reads some bytes of a string one by one. If they contain no backslash, jumps to the next quote or backslash. */
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
    // The search starts again only after the last match, so that no part of the piece is searched twice.
    if (this.quoteAt < end) this.quoteAt = indexOf(piece, QUOTE, end);
    if (this.backslashAt < end) this.backslashAt = indexOf(piece, BACKSLASH, end);
    return Math.min(this.quoteAt, this.backslashAt);
  }

  /** Handles a byte outside a string that is not white space. */
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

  /**
   * Returns the path to the open object or array with the most members or items. This one is probably the cause of the
   * excess, rather than the innermost one.
   */
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
