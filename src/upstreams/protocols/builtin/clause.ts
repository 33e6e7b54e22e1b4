import { expandContractions } from './pronouns.js';

/** As much of a message as is read, in UTF-16 units. Nobody says more before the rules have found something in it. */
export const MAX_LENGTH_READ = 2_000;
/** Clauses of a message that are read. */
const MAX_CLAUSES = 40;

/** A word of a {@link Clause}, with its place in the text. */
export interface Word {
  /** In lower case. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** A part of a message between two punctuation marks. */
export interface Clause {
  /** As it was written, but with short forms written out and one space between words. */
  readonly text: string;
  readonly words: readonly Word[];
}

/** The clauses at the beginning of a message. */
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
