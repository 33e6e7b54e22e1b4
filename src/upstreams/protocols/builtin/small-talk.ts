import { createHash } from 'node:crypto';
import type { ChatMessage } from '../../contract/chat-call.js';
import { MAX_LENGTH_READ, requestedWords } from './requested-words.js';
import { wordsOf } from './words.js';

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
