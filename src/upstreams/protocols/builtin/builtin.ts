import { setImmediate as turn, setTimeout as wait } from 'node:timers/promises';
import type { UpstreamConfig } from '../../../config/config.js';
import type { CallContext } from '../../contract/call-context.js';
import type { ChatCall } from '../../contract/chat-call.js';
import type { InProcessProtocol } from '../../contract/protocol.js';
import type { StreamPart } from '../../contract/stream-part.js';
import { plainMessages } from '../shared/plain-messages.js';
import { replyTo } from './small-talk.js';
import { untilStop } from './stop-texts.js';
import { countWords } from './words.js';

export interface BuiltinProtocolOptions {
  /** The delay between two words, in milliseconds. 0: no delay. */
  readonly wordDelayMs?: number;
}

const NATURAL_WORD_DELAY_MS = 25;
/** Without a delay, the number of words to send before other work of the process can run. */
const WORDS_OF_A_TURN = 100;

/**
 * Answers without a provider, so that the service works at its first start without an API key of a provider.
 * Sends a requested text or a fixed reply, word by word. A token is a word with the white space after it.
 */
export class BuiltinProtocol implements InProcessProtocol {
  readonly transport = 'in-process';
  readonly name = 'builtin';
  /** It obeys `stop` and a temperature of 0, and ignores the others. */
  readonly generationOptions = {
    temperature: 'temperature',
    top_p: 'top_p',
    stop: 'stop',
    seed: 'seed',
    presence_penalty: 'presence_penalty',
    frequency_penalty: 'frequency_penalty',
  } as const;

  private readonly wordDelayMs: number;

  constructor({ wordDelayMs = NATURAL_WORD_DELAY_MS }: BuiltinProtocolOptions = {}) {
    this.wordDelayMs = wordDelayMs;
  }

  async *stream(call: ChatCall, _: UpstreamConfig, { signal }: CallContext): AsyncGenerator<StreamPart> {
    const { temperature, stop } = call.options;
    const reply = replyTo(plainMessages(call.messages), temperature);
    const words = (stop === undefined ? reply : untilStop(reply, stop))[Symbol.iterator]();
    const limit = call.maxTokens ?? Infinity;
    let outputTokens = 0;
    let word = words.next();
    while (word.done !== true && outputTokens < limit) {
      if (outputTokens > 0) await this.delay(outputTokens, signal);
      if (signal.aborted) return;
      yield { type: 'text', text: word.value };
      outputTokens += 1;
      word = words.next();
    }
    const inputTokens = await countWords(
      plainMessages(call.messages).map(({ content }) => content),
      signal,
    );
    if (signal.aborted) return;
    yield { type: 'usage', usage: { inputTokens, outputTokens } };
    const reason = word.done === true ? 'stop' : 'length';
    yield { type: 'finish', reason, raw: reason };
    yield { type: 'complete', last: true };
  }

  /** Waits before the next word. Resolves early when the signal aborts: the caller checks the signal. */
  private async delay(wordsSent: number, signal: AbortSignal): Promise<void> {
    if (this.wordDelayMs > 0) await wait(this.wordDelayMs, undefined, { signal }).catch(() => undefined);
    else if (wordsSent % WORDS_OF_A_TURN === 0) await turn();
  }
}
