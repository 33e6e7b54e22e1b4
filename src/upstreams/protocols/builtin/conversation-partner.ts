import { createHash } from 'node:crypto';
import type { ChatMessage } from '../../chat-call.js';
import { FALLBACKS, MEMORIES } from './remarks.js';
import { requestedText } from './requested-text.js';
import { reassemble, RuleMatcher, type Match } from './rule-matcher.js';
import { RULES } from './rules.js';

const GREETING = 'hello';

/**
 * A conversation partner made of rules, in the manner of the chat programs of the 1960s. It keeps nothing: all that it
 * remembers is in the conversation that it is given, and the same conversation gets the same reply.
 */
export class ConversationPartner {
  private readonly rules = new RuleMatcher(RULES);
  private readonly memories = new RuleMatcher(MEMORIES);

  /** @param temperature 0: always the first wording of a reply. */
  reply(messages: readonly ChatMessage[], temperature: number | undefined): string {
    const said = messages.filter(({ role }) => role === 'user').map(({ content }) => content);
    const last = said.at(-1) ?? GREETING;
    const requested = requestedText(last);
    if (requested !== undefined) return requested;

    const choose = chooser(messages, temperature);
    const match = this.rules.best(last) ?? choose(this.remembered(said.slice(0, -1)));
    return match === undefined ? (choose(FALLBACKS) ?? '') : reassemble(choose(match.rule.replies) ?? '', match);
  }

  /** What earlier messages leave to come back to, the latest first. */
  private remembered(earlier: readonly string[]): Match[] {
    return earlier.toReversed().flatMap((message) => this.memories.best(message) ?? []);
  }
}

/** Picks by a hash of the conversation: varied from turn to turn, and yet the same when asked again. */
function chooser(messages: readonly ChatMessage[], temperature: number | undefined) {
  let seed: number | undefined;
  return <T>(variants: readonly T[]): T | undefined => {
    if (temperature === 0 || variants.length < 2) return variants[0];
    seed ??= hashOf(messages);
    return variants[seed % variants.length];
  };
}

function hashOf(messages: readonly ChatMessage[]): number {
  const hash = createHash('sha256');
  for (const { role, content } of messages) hash.update(`${role}\n${content}\n`);
  return hash.digest().readUInt32BE(0);
}
