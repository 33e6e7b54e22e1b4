import { expandContractions } from './pronouns.js';

/** The number of UTF-16 units to read of a message. The rules find a match in this length of a usual message. */
export const MAX_LENGTH_READ = 2_000;
/** The maximum number of clauses to read of a message. */
const MAX_CLAUSES = 40;

/** A word of a {@link Clause}, with its place in the text. */
export interface Word {
  /** The word in lower case. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A part of a message between two punctuation marks. */
export interface Clause {
  /** The text as written, but with expanded contractions and one space between words. */
  readonly text: string;
  readonly words: readonly Word[];
}

/** Returns the clauses at the beginning of a message. */
export function clausesOf(message: string): Clause[] {
  return expandContractions(message.slice(0, MAX_LENGTH_READ))
    .split(/[.!?;:,\n\r]+/)
    .flatMap((part) => part.replace(/\s+/g, ' ').split(' but '))
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .slice(0, MAX_CLAUSES)
    .map((text) => ({ text, words: wordsIn(text) }));
}

function wordsIn(text: string): Word[] {
  return Array.from(text.matchAll(/[\p{L}\p{N}']+/gu), ({ 0: word, index }) => ({
    text: word.toLowerCase(),
    start: index,
    end: index + word.length,
  }));
}
