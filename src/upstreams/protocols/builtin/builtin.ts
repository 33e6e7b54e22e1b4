import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { UpstreamConfig } from '../../../config/config.js';
import type { ChatCall } from '../../chat-call.js';
import type { InProcessProtocol } from '../../protocol.js';
import type { StreamPart } from '../../stream-part.js';
import { ConversationPartner } from './conversation-partner.js';
import { countWords } from './words.js';

export interface BuiltinProtocolOptions {
  /** Between two words. 0: as fast as they are read. */
  readonly wordDelayMs?: number;
}

const NATURAL_WORD_DELAY_MS = 25;
/** Words without a delay that are sent before other work of the process gets its turn. */
const WORDS_OF_A_TURN = 100;

/**
 * Answers without any vendor, so that the first start of the service serves something: a {@link ConversationPartner}
 * whose words are streamed one by one. A token is a word with the white space after it.
 */
export class BuiltinProtocol implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'builtin';

  private readonly partner = new ConversationPartner();
  private readonly wordDelayMs: number;

  constructor({ wordDelayMs = NATURAL_WORD_DELAY_MS }: BuiltinProtocolOptions = {}) {
    this.wordDelayMs = wordDelayMs;
  }

  async *stream(call: ChatCall, _upstream: UpstreamConfig, signal: AbortSignal): AsyncGenerator<StreamPart> {
    const words = this.partner.reply(call.messages, call.temperature)[Symbol.iterator]();
    const limit = call.maxTokens ?? Infinity;
    let completionTokens = 0;
    let word = words.next();
    while (word.done !== true && completionTokens < limit) {
      if (completionTokens > 0) await this.pause(completionTokens, signal);
      if (signal.aborted) return;
      yield { type: 'text', text: word.value };
      completionTokens += 1;
      word = words.next();
    }
    const promptTokens = await countWords(
      call.messages.map(({ content }) => content),
      signal,
    );
    if (signal.aborted) return;
    yield { type: 'usage', usage: { promptTokens, completionTokens } };
    const reason = word.done === true ? 'stop' : 'length';
    yield { type: 'finish', reason, raw: reason };
    yield { type: 'complete', last: true };
  }

  /** Resolves early when the signal aborts: the caller looks at the signal anyway. */
  private async pause(wordsSent: number, signal: AbortSignal): Promise<void> {
    if (this.wordDelayMs === 0) {
      if (wordsSent % WORDS_OF_A_TURN === 0) await turn();
      return;
    }
    try {
      await wait(this.wordDelayMs, undefined, { signal });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }
}
