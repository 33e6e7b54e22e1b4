import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import type { ChatMessage } from '../../contract/protocol.js';

/** The number of messages, the latest of the conversation, that determine the choice between the wordings of a reply. */
const MAX_HASHED = 20;

const ABOUT_ITSELF = 'I am the built-in stand-in of this service: a few fixed replies, not a language model.';
const HOW_TO_CONFIGURE =
  'To talk to a real model, set the key of a provider in the environment of the service, such as OPENAI_API_KEY, ' +
  'ANTHROPIC_API_KEY or OPENROUTER_API_KEY (or OLLAMA_BASE_URL for a local server), start the service again, and choose ' +
  'one of the models that GET /api/v1/chat/models then lists. A CONFIG_FILE of your own can add other providers and models.';
const REQUESTS =
  'I know three requests to test streaming: "echo" and a text repeats the text, "count to 20" counts, and ' +
  '"write 500 words" writes that many words of filler.';

const GREETING = {
  pattern: /\b(?:hello|hi|hey|good (?:morning|afternoon|evening|day)|greetings)\b/i,
  replies: [
    `Hello! ${ABOUT_ITSELF} Ask me who I am, or for help.`,
    `Hi there! ${ABOUT_ITSELF} Try "count to 20" or "help".`,
    `Good to see you. ${ABOUT_ITSELF} What would you like to try?`,
  ],
};

const UNKNOWN = [
  `I have no reply for that. ${ABOUT_ITSELF} Ask for help to see my requests.`,
  `${ABOUT_ITSELF} A language model could say more about that. Ask me how to configure one.`,
  `I cannot answer that, because I only have fixed replies. ${REQUESTS}`,
];

/** The topics in the order of their precedence. */
const TOPICS = [
  {
    pattern:
      /\b(?:who|what|which model) (?:are|is) (?:you|this)\b|\bare you\b|\byour name\b|\bmodels?\b|\bproviders?\b|\bconfigur|\bapi keys?\b/i,
    replies: [`${ABOUT_ITSELF} ${HOW_TO_CONFIGURE}`],
  },
  { pattern: /\bhelp\b|\bwhat can (?:you|i)\b/i, replies: [`${REQUESTS} ${ABOUT_ITSELF}`] },
  { pattern: /\b(?:test|testing|ping)\b/i, replies: [`It works: these words reached you as a stream. ${REQUESTS}`] },
  { pattern: /\b(?:thanks|thank you)\b/i, replies: ['You are welcome!', 'With pleasure.', 'Glad to be of use.'] },
  { pattern: /\b(?:goodbye|bye|good night)\b/i, replies: ['Goodbye!', 'Until next time.', 'Take care.'] },
  GREETING,
];

/**
 * Replies to a conversation. The same conversation gets the same reply.
 *
 * @param temperature 0: always the first wording of a reply.
 * @returns the words of the reply. Each word is created when the caller reads it.
 */
export function replyTo(messages: readonly ChatMessage[], temperature: number | undefined): Iterable<string> {
  const last = messages.findLast(({ role }) => role === 'user')?.content;
  const requested = last === undefined ? undefined : requestedWords(last);
  if (requested !== undefined) return requested;
  const beginning = last?.slice(0, MAX_LENGTH_READ);
  const topic = beginning === undefined ? GREETING : TOPICS.find(({ pattern }) => pattern.test(beginning));
  const replies = topic?.replies ?? UNKNOWN;
  return wordsOf(replies[temperature === 0 ? 0 : hashOf(messages) % replies.length] ?? '');
}

function hashOf(messages: readonly ChatMessage[]): number {
  const hash = createHash('sha256');
  for (const { role, content } of messages.slice(-MAX_HASHED)) {
    hash.update(`${role}\n${content.slice(0, MAX_LENGTH_READ)}\n`);
  }
  return hash.digest().readUInt32BE(0);
}

/** A word with the white space around it, at most 256 UTF-16 units. A longer run of characters is several pieces. */
const PIECE = /\s{1,64}\S{0,64}\s{0,64}|\S{1,64}\s{0,64}/gu;
/** How many words {@link countWords} counts before other work can run. This takes about a millisecond. */
const COUNTED_AT_ONCE = 16_384;

/**
 * Yields the words of a text, each with the white space after it. White space at the start of the text belongs to the first
 * word. The joined pieces are the original text, and no code point is split. Each piece is created when the caller reads
 * it, so a text of megabytes needs no additional memory.
 */
export function* wordsOf(text: string): Generator<string, void> {
  for (const [piece] of text.matchAll(PIECE)) yield piece;
}

/**
 * Counts the words of all texts. Other work of the process can run during the count. The count stops early when the signal
 * aborts.
 */
export async function countWords(texts: readonly string[], signal: AbortSignal): Promise<number> {
  let count = 0;
  for (const text of texts) {
    const words = text.matchAll(/\S+/g);
    while (words.next().done !== true) {
      count += 1;
      if (count % COUNTED_AT_ONCE !== 0) continue;
      await turn();
      if (signal.aborted) return count;
    }
  }
  return count;
}

/** The number of UTF-16 units to read of a message. A request is short, but the text after `echo` may be long. */
const MAX_LENGTH_READ = 500;

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
function requestedWords(message: string): Iterable<string> | undefined {
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
