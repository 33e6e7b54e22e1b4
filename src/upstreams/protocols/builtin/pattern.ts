import type { Clause } from './clause.js';

/** Adjacent words. Each set holds the alternatives for one word. The row is empty after a star at the end of the pattern. */
type Row = readonly ReadonlySet<string>[];

/**
 * A row of words that may occur anywhere in a clause. `*` matches any text of at least one character, `a|b` matches either
 * word, and `^` and `$` match the ends of the clause.
 *
 * A pattern is not a regular expression. The matcher searches for each part once, starting at the end of the previous part.
 * So the work grows linearly with the length of the clause.
 *
 * @example new Pattern('my * is|are *').match(clause) // ['cat', 'black'] in "my cat is black"
 */
export class Pattern {
  private readonly rows: readonly Row[];
  private readonly beginsClause: boolean;
  private readonly endsClause: boolean;

  constructor(source: string) {
    const [first = [], ...others] = source.split(/ ?\* ?/).map((part) => part.split(' ').filter((word) => word !== ''));
    this.beginsClause = first[0] === '^';
    this.endsClause = [first, ...others].at(-1)?.at(-1) === '$';
    this.rows = [first, ...others].map((row) =>
      row.filter((word) => word !== '^' && word !== '$').map((word) => new Set(word.split('|'))),
    );
  }

  /** Returns the texts that the stars matched, or `undefined` when the clause does not match. */
  match(clause: Clause): string[] | undefined {
    const { text, words } = clause;
    const captures: string[] = [];
    let start = 0;
    /** The position where the text of the last star begins. */
    let taken = 0;
    for (let index = 0; index < this.rows.length; index += 1) {
      const row = this.rows[index] ?? [];
      if (row.length === 0) {
        captures.push(text.slice(taken));
        break;
      }
      while (start < words.length && !this.fits(clause, start, index, taken)) start += 1;
      const [first, last] = [words[start], words[start + row.length - 1]];
      if (first === undefined || last === undefined) return undefined;
      if (index > 0) captures.push(text.slice(taken, first.start - 1));
      start += row.length;
      taken = last.end + 1;
    }
    return captures;
  }

  /** Whether the row with this index matches at the word `start`, with text for the star before the row and after it. */
  private fits(clause: Clause, start: number, index: number, taken: number): boolean {
    const { text, words } = clause;
    const row = this.rows[index] ?? [];
    if (!stands(row, clause, start)) return false;
    const isFirst = index === 0;
    const isLast = index === this.rows.length - 1;
    const [first = 0, end = 0] = [words[start]?.start, words[start + row.length - 1]?.end];
    if (isFirst ? this.beginsClause && start > 0 : first < taken + 2 || text[first - 1] !== ' ') return false;
    return isLast ? !this.endsClause || start + row.length === words.length : text[end] === ' ';
  }
}

/** Whether the words of the row match at the word `start`, with one space between them. */
function stands(row: Row, { text, words }: Clause, start: number): boolean {
  for (let offset = 0; offset < row.length; offset += 1) {
    const word = words[start + offset];
    if (word === undefined || row[offset]?.has(word.text) !== true) return false;
    const before = words[start + offset - 1]?.end ?? 0;
    if (offset > 0 && (word.start !== before + 1 || text[before] !== ' ')) return false;
  }
  return true;
}
