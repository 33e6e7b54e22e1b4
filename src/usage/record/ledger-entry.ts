import { ServiceError } from '../../common/service-error.js';
import type { ModelConfig } from '../../config/config.js';
import type { CallTrace } from '../../upstreams/call-trace.js';
import type { ChatMessage } from '../../upstreams/chat-call.js';
import { costMicrosOf } from './cost.js';
import { mostPlausibleTokens, type ModelSize } from './plausible-tokens.js';
import { outcomeOf } from './stream-outcome.js';
import { completionTokensOf, promptTokensOf } from './token-counts.js';
import type { BegunStream, UsageRecord } from './usage-record.js';

/** Longest that a vendor's own word for the end is kept. */
const MAX_REASON_LENGTH = 64;
/** Control characters and halves of surrogate pairs. */
const ODD_CHARACTERS = /[\p{Cc}\p{Cs}]/gu;

/** An admitted stream, from its beginning to its record. */
export class LedgerEntry {
  private record: UsageRecord | undefined;
  private listener: ((record: UsageRecord) => void) | undefined;

  /** @param kept resolves once a kill of the process cannot make it unknown; the answer must not begin before. */
  constructor(
    readonly begun: BegunStream,
    private readonly model: Pick<ModelConfig, 'price'> & ModelSize,
    readonly kept: Promise<void>,
    private readonly onOver: (record: UsageRecord) => void,
  ) {}

  /**
   * To be called once, when the stream is over.
   *
   * @param failure why the answer is not whole; `undefined` when it is.
   */
  end(failure: unknown, trace: CallTrace, prompt: readonly ChatMessage[]): UsageRecord {
    const { begun } = this;
    const { startedAt } = begun;
    const { attempts, lastAttempt, finish } = trace;
    const { price } = this.model;
    const most = mostPlausibleTokens(this.model);
    const promptTokens = promptTokensOf(trace, prompt, most);
    const completionTokens = completionTokensOf(trace, failure === undefined, most);
    const answered = lastAttempt?.firstTextMs === undefined ? undefined : lastAttempt;
    // Member by member: spread into an object with so many more, `begun` would cost more than all else of a record.
    const record: UsageRecord = {
      id: begun.id,
      requestId: begun.requestId,
      accountId: begun.accountId,
      credential: begun.credential,
      keyId: begun.keyId,
      keyPrefix: begun.keyPrefix,
      model: begun.model,
      startedAt,
      upstream: lastAttempt?.upstream,
      attempts,
      firstTextAt: answered && startedAt + answered.startedMs + (answered.firstTextMs ?? 0),
      endedAt: startedAt + trace.elapsedMs,
      outcome: outcomeOf(failure),
      errorCode: failure instanceof ServiceError ? failure.code : undefined,
      finishReason: finish && reasonOf(finish.raw),
      promptTokens,
      completionTokens,
      price,
      costMicros: costMicrosOf(price, promptTokens, completionTokens),
    };
    this.record = record;
    this.onOver(record);
    this.listener?.(record);
    return record;
  }

  /** Calls `listener`, the only one, with the record: now, or when the stream is over. */
  whenOver(listener: (record: UsageRecord) => void): void {
    if (this.record === undefined) this.listener = listener;
    else listener(this.record);
  }
}

/** @param raw a text. A protocol of a team may be written without types, and pass on anything. */
function reasonOf(raw: unknown): string | undefined {
  return typeof raw === 'string' ? raw.slice(0, MAX_REASON_LENGTH).replace(ODD_CHARACTERS, ' ') : undefined;
}
