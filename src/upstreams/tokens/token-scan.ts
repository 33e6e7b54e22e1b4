import {
  ALPHABET_KINDS,
  ALPHABETS,
  CAPITALS,
  CJK,
  KIND_OF,
  LETTERS,
  OTHER_KINDS,
  SCRIPT_KINDS,
  SMALL_LETTERS,
  THREE_BYTES,
  WIDE_PUNCTUATION,
} from './character-kinds.js';
import { CjkTokens, COST_AFTER_CAPITAL, COST_LINES, COSTS_AFTER_SAME } from './token-costs.js';

/** The costs are whole numbers of this part of a token. */
const UNIT = 4_096;
const DIGITS_OF_COSTS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const COST_SCALE = 30;
/** The floor of each cost: no known vocabulary has a token of more than 128 characters. Such a token is white space. */
const LEAST_COST = UNIT / 128;
/** A word without an end is in no vocabulary. From this length on, each letter has a higher cost. */
const LONG_WORD = 16;
/** The least cost of a letter in a long word. */
const LEAST_OF_LONG_WORD = UNIT / 3;
/** The least cost of a letter in a word of twice that length. */
const LEAST_OF_LETTER = UNIT / 2;
/** The costs of the third equal letter in succession, from `a` to `z` and from `A` to `Z`, in eighths of a token. */
const EIGHTHS_OF_EQUAL = '12222144244244144444444124' + '12242144444224444444444124';
/** The least cost of the third equal character of another script. */
const LEAST_OF_EQUAL = UNIT;
/** The costs of so many characters are a small integer. */
const BLOCK = 64 * 1024;

/** The lines of `COST_LINES` for the kinds up to the punctuation, and for the kinds without a script. */
const LINES_OF_ASCII = [0, 1, 1, 2, 2, 3];
const LINE_OF_PUNCTUATION = 4;
const LINE_OF_OTHERS = 5;
const LINE_OF_WIDE_PUNCTUATION = 6;
const LINES_OF_SCRIPTS = 7;
/** The first of the kinds without a script. */
const WITHOUT_SCRIPT = THREE_BYTES - 2;
const LINES_OF_LETTERS = LINES_OF_SCRIPTS + WITHOUT_SCRIPT - SCRIPT_KINDS;

const CODE_OF_SMALL_A = 0x61;
const CODE_OF_CAPITAL_A = 0x41;
const ALPHABET_LENGTH = 26;

const KIND_BITS = 8;
const SPACE = KIND_OF[0x20] as number;
const LINE_END = KIND_OF[0x0a] as number;
const COSTS = costsOfPairs();
/** The costs of the third equal letter in succession, by the code of the letter. */
const COSTS_OF_EQUAL = Uint16Array.from({ length: 0x80 }, (_, code) => costOfEqual(code));

/**
 * Estimates the tokens of a text in one pass: each pair of neighbouring characters has the cost that it has on average in two real
 * tokenizers. The text may come in pieces, and the scan keeps none of it.
 */
export class TokenScan {
  private units = 0;
  /** The kind of the character before. At first, a line end. */
  private left = LINE_END;
  /** The character before. */
  private last = -1;
  /** The kind of the character before that one. */
  private beforeLeft = LINE_END;
  /** The length of the text so far, and the position of the last character that was equal to the one before. */
  private length = 0;
  private equalAt = -1;
  /** The number of letters since the last character of another kind. */
  private letters = 0;
  private readonly cjk = new CjkTokens();

  /** The estimated tokens so far. Each text has at least one. */
  get tokens(): number {
    return Math.ceil(this.units / UNIT);
  }

  add(text: string, start = 0, end = text.length): void {
    for (let from = start; from < end; from += BLOCK) this.addBlock(text, from, Math.min(end, from + BLOCK));
  }

  /** The next text is apart from this one: a word does not go on. */
  endText(): void {
    this.left = LINE_END;
    this.beforeLeft = LINE_END;
    this.last = -1;
    this.letters = 0;
  }

  /** The loop of all requests: two table lookups for a character, and no branch that a processor often predicts wrongly. */
  private addBlock(text: string, start: number, end: number): void {
    let { left, last, letters } = this;
    let equalAt = this.equalAt - this.length + start;
    let units = 0;
    for (let index = start; index < end; index += 1) {
      const code = text.charCodeAt(index);
      const kind = KIND_OF[code] as number;
      const cost = COSTS[(left << KIND_BITS) | kind] as number;
      units = (units + cost) | 0;
      // The highest bit of a kind says whether it is a letter.
      letters = (letters + 1) & -(kind >> (KIND_BITS - 1));
      if (kind === CJK) units = (units + UNIT * this.cjk.add(code, left === CJK)) | 0;
      else if (code === last && (kind >= SCRIPT_KINDS || kind === SPACE)) {
        const isThird = equalAt === index - 1;
        equalAt = index;
        if (kind !== SPACE) units = (units + (isThird ? missingInEquals(code, kind, cost) : 0)) | 0;
        else if (!isThird && this.kindBefore(text, index - 1, start) !== LINE_END) units = (units + UNIT) | 0;
      } else if (letters > LONG_WORD && cost < LEAST_OF_LETTER) units = (units + missingInWord(letters, cost)) | 0;
      left = kind;
      last = code;
    }
    this.units += units;
    this.beforeLeft = this.kindBefore(text, end - 1, start);
    this.left = left;
    this.last = last;
    this.letters = letters;
    this.equalAt = equalAt - start + this.length;
    this.length += end - start;
  }

  /** Returns the kind of the character before this index of the block. */
  private kindBefore(text: string, index: number, start: number): number {
    if (index > start) return KIND_OF[text.charCodeAt(index - 1)] as number;
    return index === start ? this.left : this.beforeLeft;
  }
}

/** Returns what is missing in the cost of a letter in a long word. */
function missingInWord(letters: number, cost: number): number {
  return Math.max(0, (letters > 2 * LONG_WORD ? LEAST_OF_LETTER : LEAST_OF_LONG_WORD) - cost) | 0;
}

/** Returns what is missing in the cost of a character that is equal to the two before, or too much. */
function missingInEquals(code: number, kind: number, cost: number): number {
  if (kind >= WITHOUT_SCRIPT && kind < LETTERS) return 0;
  return code < 0x80 ? (COSTS_OF_EQUAL[code] as number) - cost : Math.max(0, LEAST_OF_EQUAL - cost);
}

function costOfEqual(code: number): number {
  const letter = code >= CODE_OF_SMALL_A ? code - CODE_OF_SMALL_A : code - CODE_OF_CAPITAL_A + ALPHABET_LENGTH;
  return (Number(EIGHTHS_OF_EQUAL.charAt(letter)) * UNIT) / 8;
}

/** Returns the cost of each kind after each kind. The kind before makes the higher bits of the index. */
function costsOfPairs(): Uint16Array {
  const costs = new Uint16Array(1 << (2 * KIND_BITS));
  const kinds = [
    ...Array(OTHER_KINDS).keys(),
    ...Array.from({ length: ALPHABETS - LETTERS + ALPHABET_KINDS }, (_, n) => LETTERS + n),
  ];
  for (const left of kinds) {
    for (const right of kinds) costs[(left << KIND_BITS) | right] = costOf(digitOf(left, right));
  }
  return costs;
}

function costOf(digit: string): number {
  return Math.max(LEAST_COST, Math.round((DIGITS_OF_COSTS.indexOf(digit) / COST_SCALE) ** 2 * UNIT));
}

function digitOf(left: number, right: number): string {
  if (left === right && right < LETTERS) return COSTS_AFTER_SAME.charAt(right);
  if (isCapital(left) && isCapital(right)) return COST_AFTER_CAPITAL;
  return (COST_LINES[lineOf(left)] ?? '').charAt(columnOf(right));
}

/** A capital letter has the line of its small letter. */
function lineOf(left: number): number {
  if (left >= ALPHABETS) return LINES_OF_LETTERS + SMALL_LETTERS + left - ALPHABETS;
  if (left >= LETTERS) return LINES_OF_LETTERS + left - (isCapital(left) ? CAPITALS : LETTERS);
  if (left < SCRIPT_KINDS) return LINES_OF_ASCII[left] ?? LINE_OF_PUNCTUATION;
  if (left < WITHOUT_SCRIPT) return LINES_OF_SCRIPTS + left - SCRIPT_KINDS;
  return left === WIDE_PUNCTUATION ? LINE_OF_WIDE_PUNCTUATION : LINE_OF_OTHERS;
}

/** One column stands for all capital letters. */
function columnOf(right: number): number {
  if (right >= ALPHABETS) return OTHER_KINDS + SMALL_LETTERS + 1 + right - ALPHABETS;
  if (isCapital(right)) return OTHER_KINDS + SMALL_LETTERS;
  return right < LETTERS ? right : OTHER_KINDS + right - LETTERS;
}

function isCapital(kind: number): boolean {
  return kind >= CAPITALS && kind < ALPHABETS;
}
