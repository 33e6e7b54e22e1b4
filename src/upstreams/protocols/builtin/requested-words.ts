import { wordsOf } from './words.js';

/** The number of UTF-16 units to read of a message. A request is short, but the text after `echo` may be long. */
export const MAX_LENGTH_READ = 500;

/** One character separates the request from its text. All following characters are the text, including white space. */
const ECHO = /^\s*(?:echo|repeat after me)(?::\s?|\s)(?=[\s\S])/i;
/** The requests with a number. */
const NUMBERED = [
  { pattern: /\bcount (?:up )?to (\d[\d,]*)/i, highest: 1_000, words: numbers },
  { pattern: /\bwrite (?:me )?(?:about )?(\d[\d,]*) words?\b/i, highest: 10_000, words: filler },
];

/** The filler text. It is cut to the requested number of words, and repeated if it is too short. */
const FILLER =
  'This is filler from the built-in stand-in, so that you can watch a long answer arrive word by word. ' +
  'If the words reach you one after another, then every proxy on the way passes the stream on without holding it back. ' +
  'If they come all at once, look for something between us that buffers. ' +
  'You may stop reading at any time, and the work behind the stream stops with you. ';

/**
 * Returns the words of the text that a message asks for literally, to test streaming: an echo, numbers, or filler. Each
 * word is created when the caller reads it. Returns `undefined` when the message asks for none of these texts.
 */
export function requestedWords(message: string): Iterable<string> | undefined {
  const request = message.slice(0, MAX_LENGTH_READ);
  const echo = ECHO.exec(request)?.[0];
  if (echo !== undefined) return wordsOf(message.slice(echo.length));
  for (const { pattern, highest, words } of NUMBERED) {
    const digits = pattern.exec(request)?.[1];
    if (digits === undefined) continue;
    const number = Number(digits.replaceAll(',', ''));
    if (number >= 1 && number <= highest) return words(number);
    return wordsOf(`I can only do that with a number from 1 to ${highest}.`);
  }
  return undefined;
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
