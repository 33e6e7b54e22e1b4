import { ServiceError } from '../../common/service-error.js';
import type { ModelConfig } from '../../config/config.js';
import type { CallTrace } from '../../upstreams/completion/call-trace.js';
import { appliedPrice, costMicrosOf } from './cost.js';
import { maxPlausibleTokens, type ModelSize } from './plausible-tokens.js';
import { streamOutcomeOf } from './stream-outcome.js';
import { tokenKindsOf } from './token-kinds.js';
import { outputTokensOf, inputTokensOf } from './token-counts.js';
import type { PromptSample } from './token-estimate.js';
import type { BegunStream, UsageRecord } from './usage-record.js';

declare module '../../http/request/request-context.js' {
  interface RequestContext {
    /** The usage record of the stream that the request has started. */
    ledgerEntry?: LedgerEntry;
  }
}

/** The maximum length of the provider's finish reason, in UTF-16 units. The rest is cut off. */
const MAX_REASON_LENGTH = 64;
/** Control characters and halves of surrogate pairs. */
const ODD_CHARACTERS = /[\p{Cc}\p{Cs}]/gu;

/** An admitted stream, from its start until its record exists. */
export class LedgerEntry {
  private record: UsageRecord | undefined;
  private listener: ((record: UsageRecord) => void) | undefined;

  /** @param stored resolves when the intent is stored, or when the store is unavailable. The answer must not begin earlier. */
  constructor(
    readonly begun: BegunStream,
    private readonly model: Pick<ModelConfig, 'price'> & ModelSize,
    readonly stored: Promise<void>,
    private readonly onOver: (record: UsageRecord) => void,
  ) {}

  /**
   * Creates the record. Call this once, when the stream is over.
   *
   * @param failure the reason why the answer is not complete. `undefined`: the answer is complete.
   */
  end(failure: unknown, trace: CallTrace, prompt: PromptSample): UsageRecord {
    const { begun } = this;
    const { startedAt } = begun;
    const { attempts, lastAttempt, finish } = trace;
    const maxPlausible = maxPlausibleTokens(this.model);
    const inputTokens = inputTokensOf(trace, prompt, maxPlausible);
    const outputTokens = outputTokensOf(trace, failure === undefined, maxPlausible);
    const kinds = tokenKindsOf(trace.usage, inputTokens, outputTokens);
    const price = appliedPrice(lastAttempt?.price ?? this.model.price, { inputTokens });
    const answered = lastAttempt?.firstTextMs === undefined ? undefined : lastAttempt;
    // The members are copied one by one: a spread of `begun` would cost more than all other work for a record.
    const record: UsageRecord = {
      id: begun.id,
      requestId: begun.requestId,
      accountId: begun.accountId,
      credential: begun.credential,
      keyId: begun.keyId,
      keyPrefix: begun.keyPrefix,
      model: begun.model,
      startedAt,
      detached: begun.detached,
      surface: begun.surface,
      upstream: lastAttempt?.upstream,
      attempts,
      firstTextAt: answered && startedAt + answered.startedMs + (answered.firstTextMs ?? 0),
      endedAt: startedAt + trace.elapsedMs,
      outcome: streamOutcomeOf(failure),
      errorCode: failure instanceof ServiceError ? failure.code : undefined,
      finishReason: finish && reasonOf(finish.raw),
      inputTokens,
      cachedInputTokens: kinds.cachedInputTokens,
      cacheWriteInputTokens: kinds.cacheWriteInputTokens,
      outputTokens,
      reasoningOutputTokens: kinds.reasoningOutputTokens,
      toolCalls: trace.toolCalls,
      price,
      costMicros: price && costMicrosOf(price, { inputTokens, outputTokens, ...kinds }),
    };
    this.record = record;
    this.onOver(record);
    this.listener?.(record);
    return record;
  }

  /** Calls `listener` with the record: now, or when the stream is over. There is at most one listener. */
  whenOver(listener: (record: UsageRecord) => void): void {
    if (this.record === undefined) this.listener = listener;
    else listener(this.record);
  }
}

/** @param raw a text. A protocol of a team may be written without types and pass other values. */
function reasonOf(raw: unknown): string | undefined {
  return typeof raw === 'string' ? raw.slice(0, MAX_REASON_LENGTH).replace(ODD_CHARACTERS, ' ') : undefined;
}
