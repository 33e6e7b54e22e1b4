/** The letters of Latin alphabets besides `a` to `z`. All accented letters are one kind, and so are those of Vietnamese. */
const ACCENTED = 'àáâãäåæçèéêëìíîïñòóôõöøùúûüýßąćęłńóśźżčďěňřšťůžğışőűăâîșțđœ';
const VIETNAMESE = 'ơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ';

/**
 * The kinds of characters are numbers. One kind stands for all digits, and one for all control characters. White space, punctuation
 * and capital letters have a kind for each character.
 */
const DIGITS = 0;
const SPACES = ' \t\n\r';
const CONTROL = DIGITS + 1 + SPACES.length;
const PUNCTUATION_KINDS = CONTROL + 1;
const PUNCTUATION = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
/** The first kind of a script without words between spaces. */
export const SCRIPT_KINDS = PUNCTUATION_KINDS + PUNCTUATION.length;
/** All kinds from here on are letters of alphabets, with words between spaces. */
export const LETTERS = 128;
/** The number of kinds of small Latin letters: `a` to `z`, accented letters, and those of Vietnamese. */
export const SMALL_LETTERS = 28;
export const CAPITALS = LETTERS + SMALL_LETTERS;
/** The first kind of an alphabet that is not Latin. */
export const ALPHABETS = CAPITALS + 26;

interface Script {
  readonly from: number;
  readonly to: number;
  /** The most frequent characters, which make up half of a usual text, then those up to 85 %, then the other usual ones. */
  readonly ranks: readonly string[];
}

/** Each script has a kind for each rank, and one more for all its other characters. */
const ALPHABET_SCRIPTS: readonly Script[] = [
  { from: 0x400, to: 0x4ff, ranks: ['оаеинтв', 'срлкмпдуязб', 'іьчйыжгюхфцщшєъэїё'] },
  { from: 0x370, to: 0x3ff, ranks: ['αιετονκ', 'ρσηπςυίμδλθ', 'ωέάήόγχώύξφβζψϊ'] },
  { from: 0x600, to: 0x6ff, ranks: ['اوریملدن', 'تکبهقسعحيےہشف', 'جةزخأصںئ،آگك۔ضپذطإٔچغظىھًءثِّ۱۲ؤُٹڑ۳ژ۴ڈ۵۶۷۸۹۰ٰ'] },
  { from: 0x590, to: 0x5ff, ranks: ['ויהלאת', 'בשרכדמעחם', 'נזפסןקגצטףךץ'] },
  { from: 0x900, to: 0x97f, ranks: ['ा्रकतियन', 'सेवमपोीहंअलधदचु', 'णजगषशआूभबैछ।टउथऔएईघइखळ१२डठृौफढःज़क़ँऐओ३झञ४५६७८९०़ङढ़फ़'] },
];
const OTHER_SCRIPTS: readonly Script[] = [
  { from: 0xe00, to: 0xe7f, ranks: ['ารนกอ่มิงทะั', 'ด้สลเคยีวตแหจปบใุ', 'ขชธืไพ็ำศโูถภึษ์ญผๆฏฐณซฎฒฉฤ'] },
  { from: 0x4e00, to: 0x9fff, ranks: [] },
  { from: 0x980, to: 0x9ff, ranks: [] },
  { from: 0xb80, to: 0xbff, ranks: [] },
];

/** The kind of Chinese, Japanese and Korean characters. {@link CjkTokens} has their costs. */
export const CJK = SCRIPT_KINDS + kindsOf(OTHER_SCRIPTS.slice(0, 1));
const OTHERS = SCRIPT_KINDS + kindsOf(OTHER_SCRIPTS);
/** The kinds of all other characters, by their distance from `OTHERS`. */
const LATIN_RARE = OTHERS;
const TWO_BYTES = OTHERS + 1;
export const THREE_BYTES = OTHERS + 2;
const QUOTES = OTHERS + 3;
export const WIDE_PUNCTUATION = OTHERS + 4;
const WIDE_ASCII = OTHERS + 5;
const SYMBOLS = OTHERS + 6;
const ARROWS = OTHERS + 7;
const JOINERS = OTHERS + 8;
const EMOJI = OTHERS + 9;
const HIGH_SURROGATES = OTHERS + 10;
const LOW_SURROGATES = OTHERS + 11;
/** The number of kinds that are no letters of alphabets. */
export const OTHER_KINDS = OTHERS + 12;
export const ALPHABET_KINDS = kindsOf(ALPHABET_SCRIPTS);

const CODES = 0x10000;

/** The kind of each UTF-16 unit. */
export const KIND_OF = kindsOfCodes();

function kindsOfCodes(): Uint8Array {
  const kinds = new Uint8Array(CODES).fill(THREE_BYTES);
  kinds.fill(TWO_BYTES, 0x80, 0x800).fill(LATIN_RARE, 0x80, 0x250).fill(CONTROL, 0, 0x80);
  kinds.fill(ARROWS, 0x2190, 0x2600).fill(SYMBOLS, 0x2600, 0x27c0).fill(WIDE_ASCII, 0xff01, 0xff5f);
  kinds.fill(HIGH_SURROGATES, 0xd800, 0xdc00).fill(EMOJI, 0xd83c, 0xd83f).fill(LOW_SURROGATES, 0xdc00, 0xe000);
  const set = (characters: string, kind: number): void => {
    for (const character of characters) kinds[character.charCodeAt(0)] = kind;
  };
  const setEach = (characters: string, kind: number): void => {
    for (const [index, character] of Array.from(characters).entries()) set(character, kind + index);
  };
  setEach('abcdefghijklmnopqrstuvwxyz', LETTERS);
  setEach('ABCDEFGHIJKLMNOPQRSTUVWXYZ', CAPITALS);
  set('0123456789', DIGITS);
  setEach(SPACES, DIGITS + 1);
  setEach(PUNCTUATION, PUNCTUATION_KINDS);
  set(withCapitals(ACCENTED), CAPITALS - 2);
  set(withCapitals(VIETNAMESE), CAPITALS - 1);
  setScripts(kinds, ALPHABET_SCRIPTS, ALPHABETS);
  setScripts(kinds, OTHER_SCRIPTS, SCRIPT_KINDS);
  kinds.fill(CJK, 0x3041, 0x3100).fill(CJK, 0xac00, 0xd7a4);
  set('\u2018\u2019\u201c\u201d\u201e\u2013\u2014\u2026\u00ab\u00bb\u2022\u00b7\u00a0', QUOTES);
  set(
    '\u3000\u3001\u3002\u3008\u3009\u300a\u300b\u300c\u300d\u300e\u300f\u3010\u3011\u3014\u3015\u301c\u30fb',
    WIDE_PUNCTUATION,
  );
  set('\u200d\ufe0f', JOINERS);
  return kinds;
}

function setScripts(kinds: Uint8Array, scripts: readonly Script[], first: number): void {
  let kind = first;
  for (const { from, to, ranks } of scripts) {
    kinds.fill(kind + ranks.length, from, to + 1);
    for (const [rank, characters] of [...ranks.entries()].reverse()) {
      for (const character of withCapitals(characters)) {
        const code = character.charCodeAt(0);
        // The tables of the encodings have characters of other scripts, too.
        if (code >= from && code <= to) kinds[code] = kind + rank;
      }
    }
    kind += ranks.length + 1;
  }
}

function kindsOf(scripts: readonly Script[]): number {
  return scripts.reduce((count, { ranks }) => count + ranks.length + 1, 0);
}

/** Adds the capital letters that are one unit of UTF-16 and no ASCII. */
function withCapitals(letters: string): string {
  const capitals = Array.from(letters)
    .map((letter) => letter.toUpperCase())
    .filter(({ length }) => length === 1);
  return letters + capitals.filter((letter) => !/[A-Z]/.test(letter)).join('');
}
