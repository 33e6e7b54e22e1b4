/** The maximum complexity of JSON that may be parsed. */
export interface JsonBounds {
  /** The maximum number of members, items, objects and arrays in the whole text. */
  readonly values: number;
  /** The maximum number of nested objects and arrays. */
  readonly depth: number;
}

/** The bound that the text exceeds, and where. */
export interface JsonExcess {
  readonly bound: keyof JsonBounds;
  /** The path to the object or array that is too large or too deep: names and indexes. `[]` is the whole text. */
  readonly path: readonly string[];
}

/** An object or array that has begun and not ended yet. */
interface Level {
  readonly isArray: boolean;
  /** The number of commas so far: the index of the current item. */
  commas: number;
  /** The range of the current member name in the text, with its quotes. */
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
/** Finds the next character that matters. A search passes megabytes of digits or spaces faster than a loop. */
const STRUCTURE = /[",:[\]{}]/g;

/**
 * Checks JSON before `JSON.parse` reads it. `JSON.parse` needs 80 ms and 30 MB for a megabyte of brackets, but one
 * millisecond for a megabyte of text. Needs one pass, and checks only the structure: the text can still be invalid JSON.
 *
 * @returns the first excess, or `undefined` when the text is within the bounds.
 */
export function jsonExcess(text: string, bounds: JsonBounds): JsonExcess | undefined {
  const levels: Level[] = [];
  let level: Level | undefined;
  let values = 0;
  let stringStart = 0;
  let stringEnd = 0;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    switch (unit) {
      case QUOTE:
        stringStart = index;
        index = stringEnd = endOfString(text, index);
        break;
      case COLON:
        if (level !== undefined) [level.nameStart, level.nameEnd] = [stringStart, stringEnd + 1];
        break;
      case COMMA:
        values += 1;
        if (level !== undefined) level.commas += 1;
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        values += 1;
        if (levels.length === bounds.depth) return { bound: 'depth', path: pathOf(levels, text) };
        level = { isArray: unit === OPENING_BRACKET, commas: 0, nameStart: 0, nameEnd: 0 };
        levels.push(level);
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        levels.pop();
        level = levels.at(-1);
        continue;
      default:
        STRUCTURE.lastIndex = index + 1;
        index = STRUCTURE.test(text) ? STRUCTURE.lastIndex - 2 : text.length;
        continue;
    }
    if (values > bounds.values) return { bound: 'values', path: pathOf(levels.slice(0, widest(levels)), text) };
  }
  return undefined;
}

/** Returns the index of the quote that ends the string, or the length of the text. The string starts at `start`. */
function endOfString(text: string, start: number): number {
  // A search is ten times faster than a loop. It is enough for a string without an escaped quote.
  const quote = text.indexOf('"', start + 1);
  if (quote === -1) return text.length;
  if (text.charCodeAt(quote - 1) !== BACKSLASH) return quote;
  for (let index = start + 1; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === BACKSLASH) index += 1;
    else if (unit === QUOTE) return index;
  }
  return text.length;
}

/** Returns the index of the level with the most values, which is probably the cause of the excess. */
function widest(levels: readonly Level[]): number {
  const sizes = levels.map(({ commas }) => commas);
  return Math.max(0, sizes.lastIndexOf(Math.max(...sizes)));
}

function pathOf(levels: readonly Level[], text: string): string[] {
  return levels.map(({ isArray, commas, nameStart, nameEnd }) =>
    isArray ? String(commas) : nameIn(text.slice(nameStart, nameEnd)),
  );
}

function nameIn(written: string): string {
  try {
    return JSON.parse(written) as string;
  } catch {
    return written;
  }
}
