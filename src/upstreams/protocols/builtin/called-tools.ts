import type { ChatCall } from '../../contract/chat-call.js';
import type { Message, Tool } from '../../contract/conversation.js';
import { joinedTexts } from '../shared/plain-messages.js';

/** The number of UTF-16 units to read of a message. */
const MAX_LENGTH_READ = 64 * 1024;
const MIN_WORD_LENGTH = 4;
const WORDS = /[\p{L}\p{N}]+/gu;
/** The places where the parts of a name such as `getWeather` meet. */
const HUMPS = /(?<=[a-z\d])(?=[A-Z])/;

/**
 * Returns the tools that the stand-in calls. With the choice `auto`, these are the tools with a word of four letters or more in
 * their name that occurs in the last message of the user: the first such tool, or all of them if parallel calls are requested. After
 * the result of a tool it calls none. With `required` it calls at least the first tool, and with a named tool this one, always.
 */
export function calledTools({ tools, toolChoice = 'auto', parallelToolCalls, messages }: ChatCall): readonly Tool[] {
  if (tools === undefined || toolChoice === 'none') return [];
  if (typeof toolChoice === 'object') return tools.filter(({ name }) => name === toolChoice.tool);
  if (toolChoice === 'auto' && messages.at(-1)?.role === 'tool') return [];
  const words = wordsOfUser(messages);
  const named = tools.filter(({ name }) => wordsOfName(name).some((word) => words.has(word)));
  const wanted = named.length === 0 && toolChoice === 'required' ? tools : named;
  return named.length > 0 && parallelToolCalls === true ? named : wanted.slice(0, 1);
}

function wordsOfUser(messages: readonly Message[]): ReadonlySet<string> {
  const last = messages.findLast(({ role }) => role === 'user');
  if (last?.role !== 'user') return new Set();
  const text = joinedTexts(last.content).slice(0, MAX_LENGTH_READ).toLowerCase();
  return new Set(text.match(WORDS) ?? []);
}

function wordsOfName(name: string): readonly string[] {
  const words = name.split(/[_-]/).flatMap((part) => [part, ...part.split(HUMPS)]);
  return words.filter(({ length }) => length >= MIN_WORD_LENGTH).map((word) => word.toLowerCase());
}
