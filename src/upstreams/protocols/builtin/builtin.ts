import { setTimeout as wait } from 'node:timers/promises';
import type { UpstreamConfig } from '../../../config/config.js';
import type { ChatCall } from '../../chat-call.js';
import type { InProcessProtocol } from '../../protocol.js';
import type { StreamPart } from '../../stream-part.js';
import { ConversationPartner } from './conversation-partner.js';
import { countWords, splitWords } from './words.js';

export interface BuiltinProtocolOptions {
  /** Between two words. 0: as fast as they are read. */
  readonly wordDelayMs?: number;
}

const NATURAL_WORD_DELAY_MS = 25;

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
    const words = splitWords(this.partner.reply(call.messages, call.temperature));
    const limit = Math.min(words.length, call.maxTokens ?? Infinity);
    for (const [index, text] of words.slice(0, limit).entries()) {
      if (index > 0 && this.wordDelayMs > 0) await pause(this.wordDelayMs, signal);
      if (signal.aborted) return;
      yield { type: 'text', text };
    }
    if (signal.aborted) return;

    const promptTokens = call.messages.reduce((sum, { content }) => sum + countWords(content), 0);
    yield { type: 'usage', usage: { promptTokens, completionTokens: limit } };
    const reason = limit < words.length ? 'length' : 'stop';
    yield { type: 'finish', reason, raw: reason };
    yield { type: 'complete', last: true };
  }
}

/** Resolves early when the signal aborts: who waited looks at the signal anyway. */
async function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(delayMs, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
