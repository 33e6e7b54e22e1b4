/**
 * The maximum length of JSON that is parsed without a check of its structure, in UTF-16 units. Parsing this length takes a
 * fraction of a millisecond, whatever it contains. Nearly every event of a provider is shorter.
 */
const UNCHECKED_LENGTH = 2_048;
/** The maximum nesting of arrays and objects. Events of providers have about 10 levels. */
const MAX_DEPTH = 64;
/** The maximum number of arrays, objects and their values. A long text is one value, so providers send far fewer values. */
const MAX_VALUES = 20_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSING_BRACKET = 0x5d;
const OPENING_BRACE = 0x7b;
const CLOSING_BRACE = 0x7d;

/**
 * Whether JSON is shallow and simple enough to be parsed. `JSON.parse` needs 80 ms and 30 MB for a megabyte of brackets,
 * but one millisecond for a megabyte of text. Checks only the structure: the text can still be invalid JSON.
 */
export function isBoundedJson(text: string): boolean {
  if (text.length <= UNCHECKED_LENGTH) return true;
  let depth = 0;
  let values = 0;
  for (let index = 0; index < text.length; index += 1) {
    switch (text.charCodeAt(index)) {
      case QUOTE:
        index = endOfText(text, index + 1);
        break;
      case OPENING_BRACKET:
      case OPENING_BRACE:
        depth += 1;
        values += 1;
        break;
      case CLOSING_BRACKET:
      case CLOSING_BRACE:
        depth -= 1;
        break;
      case COMMA:
        values += 1;
        break;
    }
    if (depth > MAX_DEPTH || values > MAX_VALUES) return false;
  }
  return true;
}

/** Returns the index of the quote that ends the string. The string starts at `start`. */
function endOfText(text: string, start: number): number {
  let index = start;
  for (; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit === BACKSLASH) index += 1;
    else if (unit === QUOTE) break;
  }
  return index;
}
