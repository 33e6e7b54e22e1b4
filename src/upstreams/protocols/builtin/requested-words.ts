import { FILLER } from './remarks.js';
import { wordsOf } from './words.js';

const MOST_COUNTED = 1_000;
const MOST_FILLER_WORDS = 10_000;

/** One character separates the request from its text. All following characters are the text, including white space. */
const ECHO = /^\s*(?:echo|repeat after me)(?::\s?|\s)(?=[\s\S])/i;
const COUNT = /\bcount (?:up )?to (\d[\d,]*)/i;
const WRITE = /\bwrite (?:me )?(?:about )?(\d[\d,]*) words?\b/i;

/** The number of UTF-16 units to search for a request. A request is short, but the text after `echo` may be long. */
const MOST_CHARACTERS_OF_REQUEST = 500;

/**
 * Returns the words of the text that a message asks for literally, to test streaming: an echo, numbers, or filler. Each
 * word is created when the caller reads it. Returns `undefined` when the message asks for none of these texts.
 */
export function requestedWords(message: string): Iterable<string> | undefined {
  const request = message.slice(0, MOST_CHARACTERS_OF_REQUEST);
  const echo = ECHO.exec(request)?.[0];
  if (echo !== undefined) return wordsOf(message.slice(echo.length));

  const last = numberIn(COUNT.exec(request));
  if (last !== undefined) {
    if (last >= 1 && last <= MOST_COUNTED) return numbers(last);
    return wordsOf(`I can count to anything from 1 to ${MOST_COUNTED}.`);
  }

  const words = numberIn(WRITE.exec(request));
  if (words === undefined) return undefined;
  if (words >= 1 && words <= MOST_FILLER_WORDS) return filler(words);
  return wordsOf(`I can write anything from 1 to ${MOST_FILLER_WORDS} words.`);
}

function* numbers(last: number): Generator<string, void> {
  for (let number = 1; number < last; number += 1) yield `${number} `;
  yield String(last);
}

function* filler(count: number): Generator<string, void> {
  const words = [...wordsOf(FILLER)];
  for (let index = 0; index < count; index += 1) {
    const word = words[index % words.length] ?? '';
    yield index === count - 1 ? word.trimEnd() : word;
  }
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  const digits = match?.[1];
  return digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
}
