import { createHash } from 'node:crypto';
import type { ChatMessage } from '../../contract/chat-call.js';
import { MAX_LENGTH_READ } from './clause.js';
import { FALLBACKS, MEMORIES } from './remarks.js';
import { requestedWords } from './requested-words.js';
import { reassemble, RuleMatcher, type Match } from './rule-matcher.js';
import { RULES } from './rules.js';
import { wordsOf } from './words.js';

const GREETING = 'hello';
/** The number of earlier user messages that the partner remembers. */
const MAX_REMEMBERED = 10;
/** The number of messages, of user and assistant, that determine the choice of the wording. */
const MAX_HASHED = 2 * MAX_REMEMBERED + 2;

/**
 * A rule-based conversation partner, similar to the chat programs of the 1960s. The partner keeps no state: it remembers
 * only the messages of the given conversation, and the same conversation gets the same reply. The partner reads only the
 * beginning of the last messages, even if the conversation is long.
 */
export class ConversationPartner {
  private readonly rules = new RuleMatcher(RULES);
  private readonly memories = new RuleMatcher(MEMORIES);

  /**
   * Replies to a conversation.
   *
   * @param temperature 0: always the first wording of a reply.
   * @returns the words of the reply. Each word is created when the caller reads it.
   */
  reply(messages: readonly ChatMessage[], temperature: number | undefined): Iterable<string> {
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const last = said.at(-1) ?? GREETING;
    return requestedWords(last) ?? wordsOf(this.smallTalk(last, said.slice(0, -1), chooser(messages, temperature)));
  }

  private smallTalk(last: string, earlier: readonly string[], choose: Choose): string {
    const match = this.rules.best(last) ?? choose(this.remembered(earlier));
    return match === undefined ? (choose(FALLBACKS) ?? '') : reassemble(choose(match.rule.replies) ?? '', match);
  }

  /** Returns the topics of earlier messages that a reply can come back to, the latest first. */
  private remembered(earlier: readonly string[]): Match[] {
    return earlier
      .slice(-MAX_REMEMBERED)
      .reverse()
      .flatMap((message) => this.memories.best(message) ?? []);
  }
}

type Choose = <T>(variants: readonly T[]) => T | undefined;

/**
 * Chooses by a hash of the conversation. The choice differs between turns, but the same conversation gets the same choice.
 */
function chooser(messages: readonly ChatMessage[], temperature: number | undefined): Choose {
  let seed: number | undefined;
  return (variants) => {
    if (temperature === 0 || variants.length < 2) return variants[0];
    seed ??= hashOf(messages);
    return variants[seed % variants.length];
  };
}

function hashOf(messages: readonly ChatMessage[]): number {
  const hash = createHash('sha256');
  for (const { role, content } of messages.slice(-MAX_HASHED)) {
    hash.update(`${role}\n${content.slice(0, MAX_LENGTH_READ)}\n`);
  }
  return hash.digest().readUInt32BE(0);
}
