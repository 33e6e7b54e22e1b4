import { FILLER } from './remarks.js';
import { splitWords } from './words.js';

const MOST_COUNTED = 1_000;
const MOST_FILLER_WORDS = 10_000;

/** One character parts the request from the text; all after it is the text, white space included. */
const ECHO = /^\s*(?:echo|repeat after me)(?::\s?|\s)([\s\S]+)$/i;
const COUNT = /\bcount (?:up )?to (\d[\d,]*)/i;
const WRITE = /\bwrite (?:me )?(?:about )?(\d[\d,]*) words?\b/i;

/** Requests are short; what an echo repeats may be long. */
const MOST_CHARACTERS_OF_REQUEST = 500;

/**
 * The text that the message asks for literally, to see how streaming behaves: an echo, numbers, or filler. `undefined`
 * when it asks for nothing of that.
 */
export function requestedText(message: string): string | undefined {
  const echoed = ECHO.exec(message)?.[1];
  if (echoed !== undefined) return echoed;

  const request = message.slice(0, MOST_CHARACTERS_OF_REQUEST);
  const last = numberIn(COUNT.exec(request));
  if (last !== undefined) {
    if (last < 1 || last > MOST_COUNTED) return `I can count to anything from 1 to ${MOST_COUNTED}.`;
    return Array.from({ length: last }, (_, index) => index + 1).join(' ');
  }

  const words = numberIn(WRITE.exec(request));
  if (words === undefined) return undefined;
  if (words < 1 || words > MOST_FILLER_WORDS) return `I can write anything from 1 to ${MOST_FILLER_WORDS} words.`;
  const filler = splitWords(FILLER);
  return Array.from({ length: words }, (_, index) => filler[index % filler.length])
    .join('')
    .trimEnd();
}

function numberIn(match: RegExpExecArray | null): number | undefined {
  const digits = match?.[1];
  return digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
}
